import type { Reporter, TestModule } from 'vitest/node';

/**
 * Says why each skipped test was skipped and how to repeat the run's random inputs, and ends a run with
 * `N passed, N failed, N skipped` over all files.
 */
export class CountReporter implements Reporter {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const result = test.result();
        count[result.state] += 1;
        if (test.diagnostic()?.flaky) console.log(`passed at the second try: ${test.fullName}`);
        if (result.state === 'skipped')
          console.log(`skipped: ${test.fullName} (${result.note ?? 'no reason'})`);
      }
      // A file that cannot even be read, or whose own hooks fail, has no failed test to show for it.
      count.failed += module.state() === 'failed' && count.failed === 0 ? 1 : 0;
    }
    const failed = count.failed + errors.length;
    console.log(`The random inputs come from seed ${this.#seed}: SEED=${this.#seed} repeats them.`);
    console.log(`${count.passed} passed, ${failed} failed, ${count.skipped + count.pending} skipped`);
  }
}
