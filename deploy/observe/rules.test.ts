import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
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
  const { services } = parse(readFileSync(join(import.meta.dirname, '../../docker-compose.yml'), 'utf8'));
  const [, , script = ''] = services.prometheus.entrypoint;
  const [sed = ''] = script.replace('/etc/prometheus', import.meta.dirname).split('>');
  expect(execFileSync('sh', ['-c', sed], { encoding: 'utf8' })).toBe(rules());
});
