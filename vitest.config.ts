import { randomInt } from 'node:crypto';
import { existsSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { CountReporter } from './shared/testing/count-reporter.ts';
import { LongestFirst } from './shared/testing/longest-first.ts';

/** Bytes that the folders of all tests together may need. */
const room = 2 * 1024 ** 3;

/**
 * Folders of tests are in memory where the system has room for them: each change of a task waits for the disk, and a
 * disk that is busy with the tests beside it keeps a client waiting longer than it has patience.
 */
function memory(): { TMPDIR: string } | undefined {
  const TMPDIR = '/dev/shm';
  if (!existsSync(TMPDIR)) return undefined;
  const { bavail, bsize } = statfsSync(TMPDIR);
  return bavail * bsize > room ? { TMPDIR } : undefined;
}

/** CI tries the same random inputs in every run, so that it fails by a change alone; elsewhere each run tries others. */
const seed = Number(process.env.SEED ?? (process.env.CI ? 1 : randomInt(2 ** 31)));

/** One project a workspace. Every test brings its own servers on free ports, so files run in parallel. */
const project = (name: string) => ({
  test: {
    name,
    include: [`${name}/**/*.test.ts`],
    env: {
      ...memory(),
      SEED: `${seed}`,
      NODE_COMPILE_CACHE: `${import.meta.dirname}/node_modules/.cache/node`,
    },
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Long enough for a machine that is busy.
    expect: { poll: { timeout: 10_000 } },
  },
});

export default defineConfig({
  test: {
    projects: ['shared', 'expander', 'tasks', 'proxy', 'deploy', 'shortener', 'loadtest', 'docs'].map(
      project,
    ),
    // One more worker than cores: many files wait for containers, for k6 or for a limit in time.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new CountReporter(seed)],
  },
});
