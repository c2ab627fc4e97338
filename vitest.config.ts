import { randomInt } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Bytes for the folders of all tests together. */
const requiredSpace = 2 * 1024 ** 3;

/**
 * The variable that puts test folders into memory, if there is room. Each change of a task waits for the disk, and other
 * tests keep a disk so busy that clients time out.
 */
function memory(): { TMPDIR: string } | undefined {
  const TMPDIR = '/dev/shm';
  if (!existsSync(TMPDIR)) return undefined;
  const { bavail, bsize } = statfsSync(TMPDIR);
  return bavail * bsize > requiredSpace ? { TMPDIR } : undefined;
}

/** CI uses the same random inputs in every run, so that only a change makes it fail; other runs use new ones. */
const seed = Number(process.env.SEED ?? (process.env.CI ? 1 : randomInt(2 ** 31)));

/** Starts the slowest files first: stacks in containers, then other stacks, browsers and many processes. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const long = [
      /\/(year|install|composed)\.test/,
      /\/(acceptance|proxy|deploy|loadtest)\/|\.browser\.test|\/(worst-input|failover|reconnect|longhand-expand|main|redis)\.test/,
      /./,
    ];
    const place = ({ moduleId }: TestSpecification) => long.findIndex((pattern) => pattern.test(moduleId));
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** A compile cache for the programs that tests start, as any user. */
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
    // Reloading the modules for each file would take as long as most files' tests. There is one project, because
    // vitest restarts a worker that changes projects.
    isolate: false,
    // For a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
    // Test files mostly wait for containers, k6 or timeouts.
    maxWorkers: 3 * availableParallelism(),
    sequence: { sequencer: LongestFirst },
    reporters: ['default', ['./checks/count-reporter.ts', { seed }]],
  },
});
