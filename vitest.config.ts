import { defineConfig } from 'vitest/config';

/** One project a workspace. Every test brings its own servers on free ports, so files run in parallel. */
const project = (name: string) => ({
  test: {
    name,
    include: [`${name}/**/*.test.ts`],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Long enough for a machine that is busy.
    expect: { poll: { timeout: 10_000 } },
  },
});

export default defineConfig({
  test: {
    projects: ['shared', 'expander', 'tasks', 'loadtest', 'proxy'].map(project),
    // Two workers on two cores: with the default the files would run one after the other.
    maxWorkers: '100%',
    reporters: ['default', './shared/testing/count-reporter.ts'],
  },
});
