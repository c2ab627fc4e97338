import { execFileSync } from 'node:child_process';
import { serverTiming } from '@longhand/deploy/native/configuration.ts';
import { startTemporaryProxy, type TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ObedientApplication,
  ordering,
  startObedientApplication,
} from './testing/obedient-application.ts';
import { type RequestOptions, send } from './testing/send.ts';

const times = { 'Server-Timing': 'app;dur=1.5, redis;dur=0.25' };
const kept = { ...times, 'Cache-Control': 'public, max-age=600', 'X-Accel-Expires': '30' };

let application: ObedientApplication;
let proxies: Record<'off' | 'on' | 'local', TemporaryProxy>;
beforeAll(async () => {
  application = await startObedientApplication();
  const server = `127.0.0.1:${application.port} max_fails=0`;
  const start = (value: string) =>
    startTemporaryProxy({
      LONGHAND_EXPANDER_SERVER: server,
      LONGHAND_TASKS_SERVER: server,
      LONGHAND_SERVER_TIMING_VALUE: value,
    });
  const [off, on, local] = await Promise.all(['', '$server_timing', '$local_server_timing'].map(start));
  proxies = { off, on, local } as typeof proxies;
});
afterAll(async () => {
  await Promise.all(Object.values(proxies ?? {}).map(({ stop }) => stop()));
  await application?.stop();
});

const timing = async (proxy: keyof typeof proxies, path: string, options?: RequestOptions) =>
  (await send(proxies[proxy].ports.expander, path, options)).headers['server-timing'];

/** An answer with these headers, which nobody has asked for. */
let count = 0;
const target = (path: string, headers: Record<string, string>) => {
  count += 1;
  return `${path}?u=${count}&${ordering({ headers })}`;
};

test('the proxy says how long it took, in front of what the application says', async () => {
  expect(await timing('on', target('/', times))).toMatch(/^proxy;dur=\d+, app;dur=1.5, redis;dur=0.25$/);
});

test.each([
  [20, /^proxy;dur=[1-9]\d{1,2}$/],
  [1_020, /^proxy;dur=[1-9]\d{3}$/],
])('after %i ms it says so without zeros in front', async (delay, header) => {
  expect(await timing('on', `/?${ordering({ delay })}`)).toMatch(header);
});

test('a kept answer does not have the times of the request that it was made for', async () => {
  const path = target('/api', kept);
  expect(await timing('on', path)).toMatch(/^proxy;dur=\d+, app;dur=1.5, redis;dur=0.25$/);
  expect(await timing('on', path)).toMatch(/^proxy;dur=\d+$/);
});

test('where it is off, not even the application’s own reaches a client', async () => {
  const path = target('/api', kept);
  for (const again of [path, path, target('/', times)]) expect(await timing('off', again)).toBeUndefined();
});

describe('a stack for this machine', () => {
  test.each(['localhost', '127.0.0.1', 'expander.localhost', '[::1]'])('says it to %s', async (host) => {
    const { expander } = proxies.local.ports;
    expect(await timing('local', target('/', times), { host: `${host}:${expander}` })).toContain(
      'app;dur=1.5',
    );
  });

  test.each<[string, RequestOptions]>([
    ['under another name', { host: 'longhand.example' }],
    ['from a front that says for whom', { headers: { 'X-Forwarded-For': '192.0.2.1' } }],
    ['from a front that says so as RFC 7239 has it', { headers: { Forwarded: 'for=192.0.2.1' } }],
    ['from a proxy', { headers: { Via: '1.1 front' } }],
  ])('does not say it to a request %s', async (_, options) => {
    expect(await timing('local', target('/', times), options)).toBeUndefined();
    expect(await timing('on', target('/', times), options)).toContain('app;dur=1.5');
  });
});

describe('it is on', () => {
  /** What the container makes of the variables. */
  function inContainer(wanted: string | undefined, bind: string | undefined): string {
    const script = '. ./derived.envsh && printf %s "$LONGHAND_SERVER_TIMING_VALUE"';
    const env = {
      PATH: process.env.PATH,
      LONGHAND_API_RATE: '10r/s',
      LONGHAND_SERVER_TIMING: wanted,
      LONGHAND_BIND: bind,
    };
    return execFileSync('sh', ['-c', script], {
      cwd: import.meta.dirname,
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  }

  test.each<['on' | 'off' | undefined, string, string]>([
    [undefined, '127.0.0.1', '$local_server_timing'],
    [undefined, '::1', '$local_server_timing'],
    [undefined, '0.0.0.0', ''],
    [undefined, '::', ''],
    [undefined, '192.0.2.1', ''],
    ['on', '0.0.0.0', '$server_timing'],
    ['off', '127.0.0.1', ''],
  ])('LONGHAND_SERVER_TIMING=%s on %s is "%s", natively and in the container', (wanted, bind, value) => {
    expect([serverTiming(wanted, bind), inContainer(wanted, bind)]).toEqual([value, value]);
  });

  test('not where nothing says that the stack is for this machine only, as in a cluster', () => {
    expect(inContainer(undefined, undefined)).toBe('');
  });

  test('only with a value that it has', () => {
    expect(() => inContainer('yes', '127.0.0.1')).toThrow('LONGHAND_SERVER_TIMING=yes: is not on or off');
  });
});
