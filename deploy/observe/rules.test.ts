import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { rules } from './observe.ts';

const run = promisify(execFile);
const missing = spawnSync('promtool', ['--version']).error !== undefined;

test.skipIf(missing)(
  'promtool accepts the rules, and the alerts fire as rules.test.yml and rules.slow.test.yml say',
  async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'longhand-rules-'));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    writeFileSync(join(cwd, 'rules.yml'), rules());
    const tests = ['rules.test.yml', 'rules.slow.test.yml'];
    for (const name of tests) cpSync(join(import.meta.dirname, name), join(cwd, name));
    expect((await run('promtool', ['check', 'rules', 'rules.yml'], { cwd })).stdout).toContain('SUCCESS');
    expect((await run('promtool', ['test', 'rules', ...tests], { cwd })).stdout).toContain('SUCCESS');
  },
);

test('Prometheus gets the same rules in containers', () => {
  const dockerfile = readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8');
  const [, sed = ''] = /^RUN (sed .*rules\.yaml) >/m.exec(dockerfile) ?? [];
  const command = sed.replace('/etc/prometheus', import.meta.dirname);
  expect(execFileSync('sh', ['-c', command], { encoding: 'utf8' })).toBe(rules());
});
