import { defineConfig } from 'vitest/config';

/** Tests for `make kubernetes-test`: the acceptance suite and rollouts. */
export default defineConfig({
  test: {
    name: 'cluster',
    include: ['acceptance/kubernetes.cluster.ts'],
    root: `${import.meta.dirname}/..`,
    env: { SEED: process.env.SEED ?? '1' },
    testTimeout: 240_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 250 } },
  },
});
