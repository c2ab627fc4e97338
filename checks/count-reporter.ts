import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import type { Reporter, TestModule } from 'vitest/node';

const commands = {
  Redis: 'redis-server --version | cut -d " " -f 3',
  nginx: 'PATH=$PATH:/usr/sbin nginx -v 2>&1',
  Chromium: '"$CHROMIUM" --version || chromium-headless-shell --version || chromium --version',
  Docker: 'docker version --format {{.Server.Version}}',
  k6: 'k6 version',
};

/** The versions of the programs that tests use, such as `Redis 7.0.15` or `k6 none`. */
async function versions(): Promise<string[]> {
  const found = Object.entries(commands).map(async ([name, command]) => {
    const { stdout } = await promisify(exec)(command).catch(() => ({ stdout: '' }));
    return `${name} ${/\d+(\.\d+)+/.exec(stdout)?.[0] ?? 'none'}`;
  });
  return [`Node ${process.versions.node}`, ...(await Promise.all(found))];
}

/**
 * Prints the versions of programs, the reason of each skipped test, and how to repeat the random inputs. The last line is
 * `N passed, N failed, N skipped` over all files.
 */
export default class CountReporter implements Reporter {
  readonly #seed: number;

  constructor({ seed }: { seed: number }) {
    this.#seed = seed;
  }

  async onTestRunStart(): Promise<void> {
    console.log(`Run on ${(await versions()).join(', ')}.`);
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const result = test.result();
        count[result.state] += 1;
        if (result.state === 'skipped')
          console.log(`skipped: ${test.fullName} (${result.note ?? 'no reason'})`);
      }
      // A file that cannot be loaded, or whose hooks fail, has no failed test.
      count.failed += module.state() === 'failed' && count.failed === 0 ? 1 : 0;
    }
    const failed = count.failed + errors.length;
    console.log(`The random inputs come from seed ${this.#seed}: SEED=${this.#seed} repeats them.`);
    console.log(`${count.passed} passed, ${failed} failed, ${count.skipped + count.pending} skipped`);
  }
}
