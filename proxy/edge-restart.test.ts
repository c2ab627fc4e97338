import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTemporaryProxy, type TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { serve } from '@longhand/shared/serve.ts';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { type Shortener, startShortener } from '@longhand/shortener';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../expander/src/config.ts';
import { createExpansion } from '../expander/src/expander.ts';
import { createApp } from '../expander/src/web/app.ts';
import { send } from './testing/send.ts';

/** Seconds for which the edge keeps an answer here. In the stack it is 30. */
const lifetime = 1;

let shortener: Shortener;
let port: number;
let proxy: TemporaryProxy;
/** When an expander answered last. */
let lastAnswer = 0;
beforeAll(async () => {
  [shortener, port] = await Promise.all([startShortener(), freePort()]);
  proxy = await startTemporaryProxy({ LONGHAND_EXPANDER_SERVER: `127.0.0.1:${port} max_fails=0` });
});
afterAll(async () => {
  await proxy?.stop();
  await shortener?.close();
});

/** An expander behind the edge, which may contact `networks`. */
async function startExpander(networks: string) {
  const config = readConfig({ EXPANDER_ALLOWED_NETWORKS: networks });
  const log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
  const { expand, close } = createExpansion(config, { log });
  const app = createApp(expand, { exempt: networks !== '' });
  const lifetimes: number[] = [];
  const stopping = new AbortController();
  const shortened: typeof app.fetch = async (...request) => {
    const response = await app.fetch(...request);
    lifetimes.push(Number(response.headers.get('X-Accel-Expires')));
    response.headers.set('X-Accel-Expires', `${lifetime}`);
    lastAnswer = Date.now();
    return response;
  };
  const { closed } = await serve({ fetch: shortened }, { host: '127.0.0.1', port, signal: stopping.signal });
  const stop = async () => {
    stopping.abort();
    close();
    await closed;
  };
  onTestFinished(stop);
  return { lifetimes, stop };
}

const ask = async (link: string) => {
  const { status, headers } = await send(proxy.ports.expander, link);
  const line = () => proxy.log.find((entry) => entry.includes(`${headers['x-request-id']}`));
  await expect.poll(line).toBeDefined();
  return `${status} ${JSON.parse(line() ?? '').cache}`;
};
/** Resolves once nothing that the edge got so far is fresh. nginx counts whole seconds. */
const expired = () => sleep(Math.max(0, lastAnswer + (lifetime + 1) * 1_000 - Date.now()));
const newLink = () => `/api?u=${encodeURIComponent(`${shortener.url}/chain/2?id=${randomUUID()}`)}`;

test('what was found under an exemption leaves the edge within 30 s of its end', async () => {
  const exempt = await startExpander('127.0.0.0/8');
  const link = newLink();
  expect(await ask(link)).toBe('200 MISS');
  expect(exempt.lifetimes[0]).toBeLessThanOrEqual(30 - 1);
  await exempt.stop();
  const none = await startExpander('');
  await expired();
  expect(await ask(link)).toBe('403 EXPIRED');
  await none.stop();
  // Not even while no expander can say so.
  await expired();
  expect(await ask(link)).toMatch(/^502 /);
});
