import { randomInt } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Bytes that the folders of all tests together may need. */
const requiredSpace = 2 * 1024 ** 3;

/**
 * Tests keep their folders in memory if there is room: each change of a task waits for the disk, and other tests keep
 * a disk so busy that clients time out.
 */
function memory(): { TMPDIR: string } | undefined {
  const TMPDIR = '/dev/shm';
  if (!existsSync(TMPDIR)) return undefined;
  const { bavail, bsize } = statfsSync(TMPDIR);
  return bavail * bsize > requiredSpace ? { TMPDIR } : undefined;
}

/** CI tries the same random inputs in every run, so that it fails by a change alone; elsewhere each run tries others. */
const seed = Number(process.env.SEED ?? (process.env.CI ? 1 : randomInt(2 ** 31)));

/** Starts the files that take longest first: stacks in containers, then other stacks, browsers and many processes. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const long = [
      /\/(install|composed)\.test/,
      /\/(acceptance|proxy|deploy|loadtest)\/|\.browser\.test|\/(worst-input|failover|reconnect|longhand-expand|main|redis)\.test/,
      /./,
    ];
    const place = ({ moduleId }: TestSpecification) => long.findIndex((pattern) => pattern.test(moduleId));
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** Keeps compiled code for the programs that tests start, whichever user they run as. */
const compileCache = `${import.meta.dirname}/node_modules/.cache/node`;
mkdirSync(compileCache, { recursive: true });
chmodSync(compileCache, 0o1777);

export default defineConfig({
  // Every test brings its own servers on free ports, so files run in parallel.
  test: {
    include: ['{acceptance,checks,deploy,docs,expander,loadtest,proxy,shared,shortener,tasks}/**/*.test.ts'],
    // These wait for `make rehearse`.
    exclude: [...configDefaults.exclude, 'acceptance/rehearsal/rows/**'],
    env: {
      ...memory(),
      SEED: `${seed}`,
      NODE_COMPILE_CACHE: compileCache,
    },
    // A fresh module registry for each file would cost as much as the tests of most files do. One project holds all
    // files, because a worker that changes projects is started anew.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Long enough for a machine that is busy.
    expect: { poll: { timeout: 10_000 } },
    // Files wait for more than half of their time: for containers, for k6 or for a limit in time.
    maxWorkers: 3 * availableParallelism(),
    sequence: { sequencer: LongestFirst },
    reporters: ['default', ['./checks/count-reporter.ts', { seed }]],
  },
});
