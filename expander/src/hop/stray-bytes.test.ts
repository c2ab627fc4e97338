import { once } from 'node:events';
import http from 'node:http';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { listening } from '@longhand/shared/testing/listening.ts';
import { startShortener } from '@longhand/shortener';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { http2Peer } from '../../testing/http2-peer.ts';
import type { CacheClient } from '../cache/redis.ts';
import type { Follow } from '../expansion/expansion.ts';

const shortener = await startShortener();

/** Starts an expander and a website. The website responds to the requests of a connection in order. */
async function website(answer: (path: string, socket: Socket) => unknown, redis?: CacheClient) {
  const requests: string[] = [];
  let connections = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    connections += 1;
    let last: Promise<unknown> = Promise.resolve();
    socket.on('error', () => {});
    socket.on('data', (data) => {
      for (const [, method = '', path = ''] of `${data}`.matchAll(/^(HEAD|GET) (\S+) HTTP/gm)) {
        requests.push(`${method} ${path}`);
        last = last.then(() => answer(path, socket));
      }
    });
  });
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${await listening(server)}`;
  const { expand, close } = testExpander(redis ? { redis } : {});
  onTestFinished(close);
  return {
    origin,
    expand,
    requests,
    connections: () => connections,
    /** Expands `path`. @returns the final path, or the error code. */
    async end(path: string, follow: Follow = 'default') {
      const { error, longUrl } = await expand.chain(origin + path, { follow });
      return error?.code ?? longUrl?.slice(origin.length);
    },
  };
}

const head = (status: string, length: number, more = '', type = 'text/plain') =>
  `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n${more}\r\n`;
/** Redirects every path to the same path below `/at`. */
const genuine = (path: string) =>
  path.startsWith('/at') ? head('200 OK', 0) : head('301 Moved', 0, `Location: /at${path}\r\n`);
const forged = head('301 Moved', 0, 'Location: /at/evil\r\n');
const forgedAndClosing = head('301 Moved', 0, 'Location: /at/evil\r\nConnection: close\r\n');
const forgedStart = 'HTTP/1.1 301 Moved\r\nLocation: /at/evil\r\nX: ';

const cases = (['default', 'all'] as const).flatMap((follow) =>
  [1, 20, 120].map((late): [Follow, number] => [follow, late]),
);
const victims = Array.from({ length: 20 }, (_, i) => `/victim/${i}`);
const expected = victims.map((victim) => `/at${victim}`);

describe('a late body for HEAD that looks like a response', () => {
  test.each([
    ...cases.map(([follow, late]) => ['a redirect', forged, late, follow] as const),
    ['a redirect that closes the connection', forgedAndClosing, 1, 'default'] as const,
  ])('corrupts at most one result and no cache entry: %s, %#', async (_, body, late, follow) => {
    const { end } = await website(async (path, socket) => {
      if (path !== '/user') return socket.write(genuine(path));
      socket.write(head('200 OK', body.length));
      await sleep(late);
      socket.write(body);
    });
    const wrong = async () => {
      const ends: unknown[] = [];
      for (const victim of victims) ends.push(await end(victim, follow));
      return ends.filter((found, i) => found !== expected[i]);
    };
    await end('/user', follow);
    expect((await wrong()).length).toBeLessThanOrEqual(1);
    await expect.poll(wrong).toEqual([]);
  });

  test.each([
    ['merges with the head of the real response', forgedStart],
    ['arrives together with the real response', forged],
  ])('is detected if it %s', async (_, body) => {
    let forgeries = 1;
    const { end } = await website((path, socket) => {
      if (path === '/user') return socket.write(head('200 OK', body.length));
      socket.write(path === '/at/victim' && forgeries-- > 0 ? body + genuine(path) : genuine(path));
    });
    await end('/user');
    expect(await end('/at/victim')).toBe('/at/victim');
  });

  test('prevents caching if it is detected before the chain ends', async () => {
    let victimSocket: Socket | undefined;
    const elsewhere = http.createServer(async (_, response) => {
      victimSocket?.write(genuine('/victim'));
      await once(victimSocket as Socket, 'close');
      response.end();
    });
    onTestFinished(() => void elsewhere.close());
    const away = `http://127.0.0.1:${await listening(elsewhere)}/`;
    const { end, expand, origin } = await website((path, socket) => {
      if (path === '/victim') victimSocket = socket;
      const more = path === '/victim' ? `Location: ${away}\r\n` : '';
      socket.write(head(more ? '301 Moved' : '200 OK', more ? 0 : forged.length, more));
    });
    await end('/user');
    expect(await expand.chain(`${origin}/victim`)).toMatchObject({
      longUrl: away,
      freshUntil: 0,
      staleUntil: 0,
    });
  });

  test('is not stored in Redis', async () => {
    const entries: string[] = [];
    const redis = { get: async () => null, set: async (key: string) => entries.push(key) };
    const doubted = Promise.withResolvers<void>();
    let forgeries = 1;
    const { end, expand } = await website(
      async (path, socket) => {
        if (path === '/user') return socket.write(head('200 OK', forged.length));
        if (path === '/victim' && forgeries-- > 0) {
          socket.write(forged);
          await doubted.promise;
        }
        socket.write(genuine(path));
      },
      redis as unknown as CacheClient,
    );
    await end('/user');
    expect(await end('/victim')).toBe('/at/evil');
    doubted.resolve();
    await expect.poll(() => end('/victim')).toBe('/at/victim');
    // A wrong result would reach Redis before this correct result.
    await expand.chain(`${shortener.url}/chain/1`);
    await expect.poll(() => entries.some((key) => key.endsWith('/chain/1'))).toBe(true);
    expect(entries.filter((key) => key.endsWith('/victim'))).toHaveLength(1);
  });
});

test.each(cases)(
  'a late body for HEAD over HTTP/2 corrupts no result: follow=%s, after %i ms',
  async (follow, late) => {
    const certificate = await testCertificate();
    const others = tls.getCACertificates();
    tls.setDefaultCACertificates([...others, certificate.cert]);
    onTestFinished(() => tls.setDefaultCACertificates(others));
    const { url, seen } = await http2Peer(
      async (request) => {
        if (request.number > 1) return request.ok();
        request.send(request.head([['content-type', 'text/plain']], { isEnd: false }));
        await sleep(late);
        request.send(request.data(forged));
      },
      { certificate },
    );
    const { expand, close } = testExpander();
    onTestFinished(close);
    for (const path of ['/user', ...victims]) {
      const { longUrl, error } = await expand.chain(`${url.origin}${path}`, { follow });
      expect([longUrl, error]).toEqual([`${url.origin}${path}`, null]);
    }
    expect(seen.http2).toBeGreaterThan(0);
  },
);

test('an origin that sent unsolicited bytes receives each request on a new connection', async () => {
  const sockets: Socket[] = [];
  const { end, requests, connections } = await website((path, socket) => {
    sockets.push(socket);
    socket.write(genuine(path));
  });
  await end('/user');
  const [socket] = sockets as [Socket];
  socket.write(forged);
  await once(socket, 'close');
  expect(connections()).toBe(1);
  const paths = ['/a', '/b', '/c'];
  for (const path of paths) expect(await end(path)).toBe(`/at${path}`);
  expect(requests).toEqual(['/user', ...paths].flatMap((path) => [`HEAD ${path}`, `HEAD /at${path}`]));
  expect(connections()).toBe(7);
});

describe('a harmless website that sends a body for HEAD', () => {
  test.each(cases)('is always expanded correctly: follow=%s, after %i ms', async (follow, late) => {
    const body = '<title>A page</title>'.repeat(50);
    const { end } = await website(async (_, socket) => {
      socket.write(head('200 OK', body.length, '', 'text/html'));
      await sleep(late);
      socket.write(body);
    });
    const paths = Array.from({ length: 20 }, (_, i) => `/${i}`);
    const ends: unknown[] = [];
    for (const path of paths) ends.push(await end(path, follow));
    expect(ends).toEqual(paths);
  });
});
