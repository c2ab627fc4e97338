import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const missing = spawnSync('promtool', ['--version']).error !== undefined;

test.skipIf(missing)(
  'promtool accepts the rules, and the alerts fire as rules.test.yml and rules.slow.test.yml say',
  async () => {
    const options = { cwd: import.meta.dirname };
    expect((await run('promtool', ['check', 'rules', 'rules.yml'], options)).stdout).toContain('SUCCESS');
    expect(
      (await run('promtool', ['test', 'rules', 'rules.test.yml', 'rules.slow.test.yml'], options)).stdout,
    ).toContain('SUCCESS');
  },
);
