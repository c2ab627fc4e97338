import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@longhand/shared/free-port.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findK6, installedK6, type K6, runScript } from './k6.ts';
import { control } from './selftest.ts';
import { ownStack, type Target } from './target.ts';

// Installed for the run only where nobody waits for it; `make load` installs it on a developer's machine.
const installs = process.env.CI === 'true' && spawnSync('go', ['version']).status === 0;
const without =
  installs || (await installedK6()) ? '' : ' (skipped: there is no k6; "make load" installs it)';

describe.skipIf(without !== '')(`the load scripts on k6${without}`, { timeout: 180_000 }, () => {
  let k6: K6;
  let stack: Target;
  let out: string;

  beforeAll(async () => {
    k6 = await findK6(() => {});
    out = await mkdtemp(join(tmpdir(), 'longhand-load-test-'));
    stack = await ownStack(1);
  }, 600_000);
  afterAll(async () => {
    await stack?.stop();
    await rm(out, { recursive: true, force: true });
  });

  async function run(name: string, variables: Record<string, string>) {
    let output = '';
    const code = await runScript(k6, name, out, { ...variables, LOAD_PROFILE: 'short' }, (text) => {
      output += text;
    });
    return { code, output };
  }

  test('smoke passes on the stack, and writes its reports', async () => {
    const { code, output } = await run('smoke', stack.variables);
    expect(code, output).toBe(0);
    expect(await readdir(out)).toEqual(expect.arrayContaining(['smoke.json', 'smoke.md']));
  });

  test('a short keepalive passes on the stack, directly and through the proxy', async () => {
    const { code, output } = await run('keepalive', stack.variables);
    expect(code, output).toBe(0);
    for (const name of ['direct_get', 'direct_post', 'proxy_get', 'proxy_post'])
      expect(output).toContain(name);
    expect(await readdir(out)).toContain('keepalive.html');
  });

  test.each(['smoke', 'keepalive', 'expander', 'tasks', 'spike', 'soak', 'restart'])(
    '%s ends at once with a sentence when the stack is not up',
    async (name) => {
      const url = `http://127.0.0.1:${await freePort()}`;
      const { code, output } = await run(name, { PROXY_URL: url, EXPANDER_URL: url, TASKS_URL: url });
      expect(code).toBe(108);
      expect(output).toContain(`The stack is not up: ${url}/`);
    },
  );

  test('an address that is not of this machine is refused', async () => {
    const { code, output } = await run('smoke', { TASKS_URL: 'http://tasks.example' });
    expect(code).not.toBe(0);
    expect(output).toContain('TASKS_URL=http://tasks.example: load goes to this machine alone');
  });

  test('a profile that there is not is named', async () => {
    let output = '';
    await runScript(k6, 'smoke', out, { LOAD_PROFILE: 'huge' }, (text) => {
      output += text;
    });
    expect(output).toContain('LOAD_PROFILE=huge: there is full and short.');
  });

  test('the negative control: keepalive passes with no-delay on', async () => {
    const { code, delayed, output } = await control(k6, true);
    expect(code, output).toBe(0);
    expect(Math.max(delayed.get, delayed.post)).toBeLessThan(0.25);
  });

  test('the negative control: keepalive fails with no-delay off', async () => {
    const { code, delayed, output } = await control(k6, false);
    expect(code, output).toBe(99);
    expect(Math.min(delayed.get, delayed.post)).toBeGreaterThan(0.5);
  });
});
