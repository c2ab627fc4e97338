import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with the plain line `N passed, N failed, N skipped`, all projects added up. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state] += 1;
      // A file that cannot even be read, or whose own hooks fail, has no failed test to show for it.
      count.failed += module.state() === 'failed' && count.failed === 0 ? 1 : 0;
    }
    const failed = count.failed + errors.length;
    console.log(`${count.passed} passed, ${failed} failed, ${count.skipped + count.pending} skipped`);
  }
}
