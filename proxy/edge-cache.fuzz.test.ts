import type { OutgoingHttpHeaders } from 'node:http';
import { startTemporaryProxy, type TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { randomNumbers } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ObedientApplication,
  type Order,
  ordering,
  startObedientApplication,
} from './testing/obedient-application.ts';
import { sendRaw } from './testing/send.ts';

const random = randomNumbers();
const oneOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;

interface Shape {
  method: string;
  /** The request target, with $ for what makes it this pair's own. */
  target: string;
  version: string;
  headers: OutgoingHttpHeaders;
}

const fresh = { 'Cache-Control': 'public, max-age=600', 'X-Accel-Expires': '30' };
const text = { 'Content-Type': 'application/json' };
const file = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  ETag: '"tag"',
  Vary: 'Accept-Encoding',
};
const orders: Record<'expander' | 'tasks', Order[]> = {
  expander: [
    { headers: fresh },
    { headers: { ...fresh, ...text }, length: 2_000 },
    { headers: fresh, status: 403 },
    { headers: { ...fresh, ...text }, length: 20_000 },
    { headers: { ...fresh, 'Set-Cookie': 'a=b' } },
    { headers: { ...fresh, Vary: 'Cookie, Accept-Language' } },
    { headers: { 'Cache-Control': 'no-store' } },
    { headers: fresh, chunked: true, length: 100 },
  ],
  tasks: [
    { headers: file },
    { headers: { ...file, 'Content-Type': 'text/css' }, length: 5_000 },
    { headers: { 'Cache-Control': 'no-cache', ETag: '"tag"' } },
  ],
};
const targets = {
  expander: [
    '/api?u=$',
    '/api?u=$&cb=f',
    '/api/chain?u=$',
    '/ap%69?u=$',
    '/./api?u=$',
    '//api?u=$',
    '/api/?u=$',
    '/api?U=$',
    '/api?u=%24$',
    '/api?u=$#x',
    'http://other.example/api?u=$',
  ],
  tasks: [
    '/public/0123456789ab/$.js',
    '/public/0123456789ab/$.js?x',
    '/public/0123456789ab/%73$.js',
    '/public/./0123456789ab/$.js',
    '/public/$.js',
  ],
};
const headers: [string, string[]][] = [
  ['Host', ['localhost', 'tasks.localhost', 'expander.localhost', 'LOCALHOST:80', '127.0.0.1', 'a-machine']],
  [
    'Accept-Encoding',
    ['gzip', 'br', 'gzip, deflate, br', 'br;q=0, gzip', 'GZIP;q=0.5', 'identity', '*', 'zstd'],
  ],
  ['Range', ['bytes=0-3', 'bytes=0-1,3-4', 'bytes=99999-', 'lines=1']],
  ['If-None-Match', ['"tag"', '*', 'W/"tag"']],
  ['If-Modified-Since', ['Sat, 01 Jan 2000 00:00:00 GMT', 'Fri, 01 Jan 2100 00:00:00 GMT']],
  ['If-Range', ['"tag"']],
  ['Cookie', ['session=1', 'a=b; c=d']],
  ['Cache-Control', ['no-cache', 'no-store', 'max-age=0', 'only-if-cached']],
  ['Pragma', ['no-cache']],
  ['Authorization', ['Basic eDp5']],
  ['Origin', ['http://evil.example', 'null']],
  ['Accept', ['application/json', 'text/html', '*/*']],
  ['Accept-Language', ['de', 'en']],
  ['X-Forwarded-For', ['8.8.8.8']],
  ['X-Forwarded-Host', ['evil.example']],
  ['X-Forwarded-Proto', ['https']],
  ['X-HTTP-Method-Override', ['DELETE']],
  ['X-Accel-Expires', ['1000']],
  ['X-Original-URL', ['/other']],
  ['Expect', ['100-continue']],
  ['User-Agent', ['Mozilla/5.0', 'curl/8']],
  ['TE', ['trailers']],
  ['CDN-Loop', ['longhand', 'other']],
  ['Content-Length', ['0']],
];

/** @param target what another request asked for, which this one mostly asks for as well. */
function anyRequest(application: 'expander' | 'tasks', order: string, other?: Shape): Shape {
  const chosen = headers.filter(([name]) => name !== 'Host' && random() < 0.15);
  const target = random() < 0.5 ? (targets[application][0] ?? '') : oneOf(targets[application]);
  const [path = '', fragment] = target.split('#');
  // The files have no query of their own; their order is in a header that every request has.
  const query = application === 'tasks' ? '' : `&${order}`;
  return {
    method: oneOf(['GET', 'GET', 'GET', 'HEAD', 'POST', 'OPTIONS']),
    target:
      other && random() < 0.7
        ? other.target
        : `${path}${query}${fragment === undefined ? '' : `#${fragment}`}`,
    version: oneOf(['1.1', '1.1', '1.1', '1.0']),
    headers: Object.fromEntries([
      ['Host', oneOf(headers[0]?.[1] ?? [])],
      ...chosen.map(([name, values]) => [name, oneOf(values)]),
    ]),
  };
}

let application: ObedientApplication;
let proxy: TemporaryProxy;
beforeAll(async () => {
  application = await startObedientApplication();
  const server = `127.0.0.1:${application.port} max_fails=0`;
  const unlimited = { LONGHAND_API_RATE: '1000000r/s' };
  const servers = { LONGHAND_EXPANDER_SERVER: server, LONGHAND_TASKS_SERVER: server };
  proxy = await startTemporaryProxy({ ...unlimited, ...servers });
});
afterAll(async () => {
  await proxy?.stop();
  await application?.stop();
});

/** Sends a request as it is, and returns what comes back without what is new in each answer. */
async function answerTo(
  port: number,
  { method, target, version, headers }: Shape,
  own: string,
): Promise<string> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `${method} ${target.replaceAll('$', own)} HTTP/${version}\r\n`;
  const answer = await sendRaw(port, `${request}${lines.join('')}Connection: close\r\n\r\n`);
  return answer
    .replaceAll(own, '$')
    .replace(/^(Date|X-Request-Id): .*\r\n/gim, '')
    .replace(/(request )[0-9a-f]{32}/, '$1');
}

test.each(['expander', 'tasks'] as const)(
  'what one client asks for changes nothing for the next one, of the %s',
  { timeout: 600_000 },
  async (name) => {
    let number = 0;
    const own = () => `n${(number++).toString().padStart(9, '0')}`;
    for (let i = 0; i < rounds({ short: 300, long: 10_000 }); i += 1) {
      const order = oneOf(orders[name]);
      application.standing = name === 'tasks' ? order : {};
      const first = anyRequest(name, ordering(order));
      const second = anyRequest(name, ordering(order), first);
      const port = proxy.ports[name];
      const alone = await answerTo(port, second, own());
      const shared = own();
      await answerTo(port, first, shared);
      expect(
        await answerTo(port, second, shared),
        `${JSON.stringify(first)}\n${JSON.stringify(second)}`,
      ).toBe(alone);
    }
    expect(proxy.log.filter((line) => line.includes('"cache":"HIT"')).length).toBeGreaterThan(20);
  },
);
