import { randomInt } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Bytes that the temporary folders of all tests need. */
const requiredSpace = 2 * 1024 ** 3;

/**
 * Puts the temporary folders of tests into memory if there is room. On a disk, other tests would delay writes of tasks until
 * clients time out.
 */
function inMemory(): { TMPDIR: string } | undefined {
  const TMPDIR = '/dev/shm';
  if (!existsSync(TMPDIR)) return undefined;
  const { bavail, bsize } = statfsSync(TMPDIR);
  return bavail * bsize > requiredSpace ? { TMPDIR } : undefined;
}

/** CI always uses the same random inputs, so that only a change can make it fail. Other runs use new inputs. */
const seed = Number(process.env.SEED ?? (process.env.CI ? 1 : randomInt(2 ** 31)));

/** Starts the slowest files first: stacks in containers, then other stacks, browsers, and tests with many processes. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const long = [
      /\/(year|install|pasted|composed)\.test/,
      /\/(acceptance|proxy|deploy|loadtest)\/|\.browser\.test|\/(worst-input|failover|reconnect|longhand-expand|main|redis)\.test/,
      /./,
    ];
    const place = ({ moduleId }: TestSpecification) => long.findIndex((pattern) => pattern.test(moduleId));
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** Tests that compare response times. They run one at a time, after all others, which would slow an attacked service down most. */
const attacks = ['**/*.attack.test.ts'];

/** The compile cache of programs that tests start, possibly as other users. */
const compileCache = `${import.meta.dirname}/node_modules/.cache/node`;
mkdirSync(compileCache, { recursive: true });
chmodSync(compileCache, 0o1777);

export default defineConfig({
  test: {
    // `make rehearse` runs these.
    exclude: [...configDefaults.exclude, 'acceptance/rehearsal/rows/**'],
    env: {
      ...inMemory(),
      SEED: `${seed}`,
      NODE_COMPILE_CACHE: compileCache,
    },
    // Loading the modules again for each file would take as long as most tests.
    isolate: false,
    // The machine may be busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'parallel',
          include: [
            '{acceptance,checks,deploy,docs,expander,loadtest,proxy,shared,shortener,tasks}/**/*.test.ts',
          ],
          exclude: attacks,
          // Every test starts its own servers on free ports, and mostly waits for containers, k6 or timeouts.
          maxWorkers: 3 * availableParallelism(),
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: attacks, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
    reporters: ['default', ['./checks/count-reporter.ts', { seed }]],
  },
});
