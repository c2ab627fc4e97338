import type { Reporter, TestModule } from 'vitest/node';

/** Prints the reasons for failed and skipped tests, the random seed, and `N passed, N failed, N skipped`. */
export default class CountReporter implements Reporter {
  readonly #seed: number;

  constructor({ seed }: { seed: number }) {
    this.#seed = seed;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const result = test.result();
        count[result.state] += 1;
        if (result.state === 'failed') {
          const [reason] = `${result.errors[0]?.message}`.split('\n', 1);
          console.log(`failed: ${test.fullName} (${reason})`);
        }
        if (result.state === 'skipped')
          console.log(`skipped: ${test.fullName} (${result.note ?? 'no reason'})`);
      }
      // A file that fails to load, or whose hooks fail, has no failed tests. Count the file as one failure.
      count.failed += module.state() === 'failed' && count.failed === 0 ? 1 : 0;
    }
    const failed = count.failed + errors.length;
    console.log(`SEED=${this.#seed} repeats the random inputs of this run.`);
    console.log(`${count.passed} passed, ${failed} failed, ${count.skipped + count.pending} skipped`);
  }
}
