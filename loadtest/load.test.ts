import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { testFolder } from '@longhand/shared/testing/text-file.ts';
import { describeUnless } from '@longhand/shared/testing/unless.ts';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { startControl } from './control-server.ts';
import { hasK6, installK6, k6Files, runScript } from './k6.ts';
import { allowedUrl, defaults, settings } from './scripts/modules/settings.ts';
import { runControl, short } from './selftest.ts';
import { findRunningStack, startOwnStack, type Target } from './target.ts';
import { judge } from './verdict.ts';

const root = join(import.meta.dirname, '..');
const readme = await readFile(join(import.meta.dirname, 'README.md'), 'utf8');
const missing = !(await hasK6()) && 'needs k6, which `make load` installs';

/** Starts a server that records request paths. */
async function recording(respond = (response: http.ServerResponse) => response) {
  const requests: (string | undefined)[] = [];
  const server = http.createServer(({ url }, response) => {
    requests.push(url);
    respond(response).end();
  });
  onTestFinished(() => cutOff(server));
  return { url: `http://127.0.0.1:${await listening(server)}`, requests };
}

describeUnless(missing)('the load scripts on k6', { timeout: 180_000 }, () => {
  let stack: Target;
  const out = testFolder();

  beforeAll(async () => {
    stack = await startOwnStack();
  });
  afterAll(async () => {
    await stack?.[Symbol.asyncDispose]();
  });

  /** Skips the HTML report, because it is slow. */
  const cheap = { ...short, LOAD_USERS: '2', K6_WEB_DASHBOARD: 'false' };
  const run = async (script: string, variables: Record<string, string>, args: string[] = []) => {
    const folder = testFolder();
    const what = { script, out: folder, variables: { ...cheap, ...variables }, args, quiet: true };
    return { ...(await runScript(what)), folder };
  };

  test.concurrent('a short keepalive run passes, directly and through the proxy', async () => {
    await using control = await startControl();
    const short = { LOAD_RATE: '30', LOAD_BURST: '1', LOAD_DURATION: '1', K6_WEB_DASHBOARD: 'true' };
    const variables = { ...stack.variables, ...short, CONTROL_URL: control.url };
    const { code, output, folder } = await run('keepalive', variables);
    expect(code, output).toBe(0);
    const summary = JSON.parse(await readFile(join(folder, k6Files.summary), 'utf8'));
    expect(judge(summary).outcome).toBe('passed');
    // k6 counts a threshold without samples as passed.
    const steady = Object.entries(summary.metrics).filter(([metric]) => metric.includes('phase:steady'));
    expect(steady.filter(([, values]) => (values as { count: number }).count === 0)).toEqual([]);
    expect(steady).toHaveLength(6);
    expect((await readFile(join(folder, k6Files.html), 'utf8')).length).toBeGreaterThan(1_000);
  });

  test.concurrent('smoke announces its tasks on another host and removes them', async () => {
    const config = join(out, 'two-names.json');
    await writeFile(config, JSON.stringify({ hosts: { '*.internal': '127.0.0.1' } }));
    const renamed = (url: string | undefined, name: string) =>
      `${url}`.replace('127.0.0.1', `${name}.internal`);
    const { EXPANDER_URL, TASKS_URL, SHORTENER_URL = '' } = stack.variables;
    const variables = {
      EXPANDER_URL: renamed(EXPANDER_URL, 'expander'),
      TASKS_URL: renamed(TASKS_URL, 'tasks'),
      SHORTENER_URL,
      LOAD_ALLOW_HOST: 'expander.internal, tasks.internal',
    };
    const { code, output } = await run('smoke', { ...variables, LOAD_ITERATIONS: '1' }, ['--config', config]);
    expect(code, output).toBe(0);
    expect(output).toContain('PROXY_URL is not set, so the front page is not checked.');
    expect(output).toMatch(/This run sends load to expander.internal, tasks.internal. It adds 4 tasks/);
    const prefix = /start with \\"(load \S+)\\"/.exec(output)?.[1];
    const left = await fetch(`${TASKS_URL}/tasks`, { headers: { Accept: 'application/json' } });
    expect(prefix).toBeDefined();
    expect(await left.text()).not.toContain(prefix);
  });

  // `make load-selftest` also runs keepalive with no-delay on.
  test.concurrent('keepalive fails with no-delay off', async () => {
    const variables = { ...cheap, LOAD_RATE: '40', LOAD_DURATION: '1' };
    const { code, delayed, output } = await runControl(false, variables);
    expect(code, output).toBe(99);
    // A busy machine can delay responses beyond the detected range.
    expect(Math.min(delayed.get, delayed.post)).toBeGreaterThan(0.1);
  });

  test('k6 options and variables change the load', async () => {
    const variables = { LOAD_HIT_P95: '5000', LOAD_MISS_P95: '5000', LOAD_HOT_LINKS: '2' };
    const { code, output } = await run('expander', { ...stack.variables, ...variables }, [
      ...['--vus', '3', '--iterations', '20'],
    ]);
    expect(code, output).toBe(0);
    expect(output).toMatch(/iterations\.+: 20 /);
    expect(output).toContain("'p(95)<5000'");
    // A run without a control has no control thresholds.
    expect(output).not.toContain('target:control');
  });

  test('breakpoint reports the rate at which a threshold fails', async () => {
    const rising = { LOAD_P99: '0', LOAD_RATE: '4', LOAD_PEAK_RATE: '20', LOAD_DURATION: '20' };
    const { code, output, folder } = await run('breakpoint', { ...stack.variables, ...rising });
    expect(code, output).toBe(99);
    const { metrics } = JSON.parse(await readFile(join(folder, k6Files.summary), 'utf8'));
    const left = await fetch(`${stack.variables.TASKS_URL}/tasks`, {
      headers: { Accept: 'application/json' },
    });
    expect(await left.text()).not.toContain('"title":"load ');
    // The rate would reach 20 after 25 s, but k6 stops the run after 10 s.
    expect(metrics.rate_reached.value).toBeGreaterThan(4);
    expect(metrics.rate_reached.value).toBeLessThan(16);
  });

  test('every script aborts with a message when the stack is not running', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const names = Object.keys(defaults);
    const stack = { PROXY_URL: url, EXPANDER_URL: url, TASKS_URL: url };
    const runs = await Promise.all(names.map((name) => run(name, stack)));
    expect(runs.map(({ code }) => code)).toEqual(names.map(() => 108));
    for (const { output } of runs) expect(output).toContain(`The stack is not running: ${url}/`);
  });

  test('smoke distinguishes a missing shortener from a refused URL', async () => {
    const away = `http://127.0.0.1:${await freePort()}`;
    const { code, output } = await run('smoke', { ...stack.variables, SHORTENER_URL: away });
    expect([code, output]).toEqual([108, expect.stringContaining(`returned 502 for a link to ${away}`)]);
    expect(output).not.toContain('refuses');
  });

  test("the README's tutorial has the correct exit codes", async () => {
    const [, tutorial = ''] = readme.split(/^## .*\n/m);
    const lines = [...tutorial.matchAll(/^ {4}(k6 .*)$/gm)].map(([, line = '']) => line);
    const few = { LOAD_USERS: '2', LOAD_ITERATIONS: '1', LOAD_READ_RATE: '10', LOAD_WRITE_RATE: '2' };
    // Generous limits, because the machine may be busy.
    const wide = { LOAD_READ_P95: '5000', LOAD_WRITE_P95: '5000', LOAD_DROPPED: '40' };
    const quick = { ...few, ...wide, LOAD_LISTED: '10' };
    const env = { ...process.env, ...stack.variables, ...quick, K6_NO_USAGE_REPORT: 'true' };
    const ends: { code: number; output: string }[] = [];
    for (const line of lines) {
      const end = await promisify(execFile)('bash', ['-c', line], { cwd: root, env }).catch((error) => error);
      ends.push({ code: end.code ?? 0, output: end.stdout });
    }
    const codes = ends.map(({ code }) => code);
    expect(codes, ends.at(-1)?.output).toEqual([0, 0, 99]);
  });

  test('a script aborts on a redirect to the login', async () => {
    const { url, requests } = await recording((response) => response.writeHead(303, { Location: '/login' }));
    const { output } = await run('tasks', { TASKS_URL: url });
    expect(output).toContain(`${url}/ requires a password. Use a stack without TASKS_PASSWORD_FILE.`);
    expect(requests).not.toContain('/login');
  });
});

test.each([
  ['http://tasks.example', ''],
  ['http://stage.example.org.evil.example', 'stage.example.org'],
  ['http://stage.example.org@evil.example', 'stage.example.org'],
  ['http://stage.example.org:80@evil.example/', 'stage.example.org'],
  ['http://127.0.0.1:80/?x=', ''],
  ['ftp://127.0.0.1', ''],
])('%s is not allowed with LOAD_ALLOW_HOST=%s', (TASKS_URL, LOAD_ALLOW_HOST) => {
  expect(() => allowedUrl('TASKS_URL', { TASKS_URL, LOAD_ALLOW_HOST })).toThrow(
    `TASKS_URL=${TASKS_URL} is not allowed. You can load only this machine`,
  );
});

test('make load contacts a named stack only through k6, which checks the host', async () => {
  const { url: TASKS_URL, requests } = await recording();
  await using target = await findRunningStack({ TASKS_URL });
  expect([target?.address, target?.variables.TASKS_URL, requests]).toEqual([TASKS_URL, TASKS_URL, []]);
});

test('a script warns once about settings of another script', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => void vi.unstubAllGlobals());
  onTestFinished(() => warn.mockRestore());
  vi.stubGlobal('__ENV', { LOAD_RATE: '500', LOAD_READ_RATE: '500', LOAD_P99: '5s' });
  for (const user of [0, 1, 2]) {
    vi.stubGlobal('__VU', user);
    expect(settings('tasks').readRate).toBe(500);
  }
  const warned = expect.stringContaining(
    'No effect on tasks: LOAD_RATE, LOAD_P99. Its settings are LOAD_READ_RATE',
  );
  expect(warn.mock.calls).toEqual([[warned]]);
  expect(() => settings('keepalive')).toThrow('LOAD_P99=5s is not a number.');
});

test.each([
  ['echo "k6 v0.49.0 (go1.21.6, linux/amd64)"', 'k6 0.49.0 is older than 1.8.1.'],
  ['echo "cannot allocate memory" >&2; exit 2', 'k6 did not start: cannot allocate memory'],
])('hasK6() rejects the k6 script %s', async (script, message) => {
  const folder = testFolder();
  onTestFinished(() => void vi.unstubAllEnvs());
  await writeFile(join(folder, 'k6'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
  await expect(hasK6()).rejects.toThrow(message);
});

test('the installation of k6 shows its progress and its error', async () => {
  const folder = testFolder();
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {});
  onTestFinished(() => printed.mockRestore());
  const program = (end: string) =>
    writeFile(join(folder, 'go'), `#!/bin/sh\nseq 1 120 >&2\n${end}\n`, { mode: 0o755 });
  await program('echo "go: downloading go.k6.io/k6" >&2');
  await installK6();
  expect(printed.mock.calls).toEqual([['Compiled 50 packages.'], ['Compiled 100 packages.']]);
  await program('echo "no space left" >&2; exit 1');
  await expect(installK6()).rejects.toThrow('no space left');
});

test('the README lists all script settings with their defaults', () => {
  for (const [script, settings] of Object.entries(defaults)) {
    const row = readme.split('\n').find((line) => line.startsWith(`| \`${script}\``));
    for (const [setting, value] of Object.entries(settings))
      expect(row).toContain(`\`LOAD_${setting.replace(/[A-Z]/g, '_$&').toUpperCase()}=${value}\``);
  }
});
