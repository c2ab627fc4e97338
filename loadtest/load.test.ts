import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installedK6, type K6, runScript } from './k6.ts';
import { runControl } from './selftest.ts';
import { startOwnStack, type Target } from './target.ts';

const installed = await installedK6();
const skipped = installed ? '' : ' (skipped: k6 is not installed; "make load" installs it)';

describe.skipIf(skipped !== '')(`the load scripts on k6${skipped}`, { timeout: 180_000 }, () => {
  const k6 = installed as K6;
  let stack: Target;
  let out: string;

  beforeAll(async () => {
    out = await mkdtemp(join(tmpdir(), 'longhand-load-test-'));
    stack = await startOwnStack(1);
  });
  afterAll(async () => {
    await stack?.stop();
    await rm(out, { recursive: true, force: true });
  });

  const run = (name: string, variables: Record<string, string>) =>
    runScript(k6, name, out, { LOAD_PROFILE: 'short', ...variables });

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
    '%s aborts with a message when the stack is not running',
    async (name) => {
      const url = `http://127.0.0.1:${await freePort()}`;
      const { code, output } = await run(name, { PROXY_URL: url, EXPANDER_URL: url, TASKS_URL: url });
      expect(code).toBe(108);
      expect(output).toContain(`The stack is not running: ${url}/`);
    },
  );

  test('the URL of another machine is refused', async () => {
    const { code, output } = await run('smoke', { TASKS_URL: 'http://tasks.example' });
    expect(code).not.toBe(0);
    expect(output).toContain('TASKS_URL=http://tasks.example: load is sent to this machine only');
  });

  test('an unknown profile is named', async () => {
    const { output } = await run('smoke', { LOAD_PROFILE: 'huge' });
    expect(output).toContain('LOAD_PROFILE=huge: the profiles are full and short.');
  });

  test('the negative control: keepalive passes with no-delay on', async () => {
    const { code, delayed, output } = await runControl(k6, true);
    expect(code, output).toBe(0);
    expect(Math.max(delayed.get, delayed.post)).toBeLessThan(0.25);
  });

  test('the negative control: keepalive fails with no-delay off', async () => {
    const { code, delayed, output } = await runControl(k6, false);
    expect(code, output).toBe(99);
    expect(Math.min(delayed.get, delayed.post)).toBeGreaterThan(0.5);
  });
});
