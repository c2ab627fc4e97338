import { defineConfig } from 'vitest/config';

/** The tests of `make kubernetes-test`, one file after the other. */
export default defineConfig({
  test: {
    name: 'cluster',
    include: ['acceptance/*.cluster.ts'],
    root: `${import.meta.dirname}/..`,
    env: { SEED: process.env.SEED ?? '1' },
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 250 } },
  },
});
