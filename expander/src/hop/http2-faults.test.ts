import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { describe, expect, test } from 'vitest';
import { errors, frame, settings } from '../../testing/http2-frames.ts';
import { http2Peer, type PeerRequest, peerClient } from '../../testing/http2-peer.ts';
import { maxHeadSize } from './response-head.ts';

const certificate = await testCertificate();
const client = () => peerClient(certificate);

const ok = (request: PeerRequest) => request.ok();
const repeated = (bytes: Uint8Array, count = 1_000) => Buffer.concat(Array(count).fill(bytes));

/** Responds to the first request, and lets `respond` handle the second. */
const second =
  (respond: (request: PeerRequest) => void) =>
  (request: PeerRequest): void =>
    request.number === 2 ? respond(request) : request.ok();

describe('a request that the server did not process is repeated over HTTP/2', () => {
  test.each<[string, (request: PeerRequest) => void, connections: number]>([
    ['REFUSED_STREAM', (request) => request.reset(errors.refused), 1],
    ['GOAWAY', (request) => request.goAway(0, request.stream - 2), 2],
    ['GOAWAY with an error', (request) => request.goAway(errors.enhanceYourCalm, request.stream - 2), 2],
    ['a closed connection', ({ socket }) => void socket.end(), 2],
    ['a reset connection', ({ socket }) => void socket.destroy(), 2],
  ])('after %s', async (_, respond, connections) => {
    const { url, seen } = await http2Peer(second(respond), { certificate });
    const { send } = client();
    expect(await send(url)).toEqual([200]);
    expect(await send(url, 5)).toEqual(Array(5).fill(200));
    expect(seen).toMatchObject({ connections, http1: 0 });
  });

  test('after requests beyond a limit of 2 streams', async () => {
    const open = new Map<number, number>();
    const { url, seen } = await http2Peer(
      (request) => {
        const streams = (open.get(request.connection) ?? 0) + 1;
        if (streams > 2) return request.reset(errors.refused);
        open.set(request.connection, streams);
        setTimeout(() => {
          open.set(request.connection, (open.get(request.connection) ?? 0) - 1);
          request.ok();
        }, 20);
      },
      { certificate, settings: [[settings.maxConcurrentStreams, 2]] },
    );
    const { send } = client();
    expect(await send(url, 40)).toEqual(Array(40).fill(200));
    expect(seen.http1).toBe(0);
    expect(seen.connections).toBeLessThanOrEqual(20);
  });
});

describe('an origin that breaks HTTP/2 gets HTTP/1.1', () => {
  const windowUpdate = frame('windowUpdate', 0, 0, Buffer.from([0, 0, 0, 1]));

  test.each<[string, (request: PeerRequest) => void]>([
    [
      'DATA after HEAD',
      (request) => request.send(request.head([], { isEnd: false }), request.data('a body')),
    ],
    ['the header Connection', (request) => request.send(request.head([['connection', 'close']]))],
    ['an upper-case header', (request) => request.send(request.head([['Location', '/']]))],
    [
      'two lengths',
      (request) => request.send(request.head([...'12'].map((n) => ['content-length', n] as const))),
    ],
    ['HTTP_1_1_REQUIRED', (request) => request.reset(errors.http11Required)],
    ['REFUSED_STREAM twice', (request) => request.reset(errors.refused)],
    ['malformed HPACK', (request) => request.send(frame('headers', 5, request.stream, Buffer.alloc(5, 255)))],
    ['10,000 fields', (request) => request.send(request.head(Array(10_000).fill(['x', ''])))],
    [
      'more than 8 CONTINUATION frames',
      (request) => request.send(request.head([['x', 'y'.repeat(200_000)]])),
    ],
    ['a connection that closes before any response', ({ socket }) => void socket.end()],
    ['a flood of PING', (request) => request.flood(repeated(frame('ping', 0, 0, Buffer.alloc(8))))],
    ['a flood of SETTINGS', (request) => request.flood(repeated(frame('settings', 0, 0)))],
    ['a flood of WINDOW_UPDATE', (request) => request.flood(repeated(windowUpdate))],
  ])('after %s', async (_, respond) => {
    const { url, seen } = await http2Peer(respond, { certificate });
    const neighbour = await http2Peer(ok, { certificate });
    const { send } = client();
    const [own, other] = await Promise.all([send(url, 5), send(neighbour.url, 5)]);
    expect(own).toEqual(Array(5).fill(200));
    expect(other).toEqual(own);
    const before = seen.http2;
    expect(await send(url, 5)).toEqual(own);
    expect([seen.http2, seen.http1 >= 5]).toEqual([before, true]);
    expect(neighbour.seen).toMatchObject({ connections: 1, http1: 0 });
  });

  test('after HTTP/1.1 on a connection that selected HTTP/2', async () => {
    const { url, seen } = await http2Peer(ok, { certificate, greeting: 'HTTP/1.1 400 Bad Request\r\n\r\n' });
    expect(await client().send(url, 5)).toEqual(Array(5).fill(200));
    expect(seen.http1).toBe(5);
  });
});

test('an origin that breaks HTTP/2 and speaks no HTTP/1.1 gets a session for each request', async () => {
  const { url, seen } = await http2Peer(
    (request) => {
      // The body destroys the session, and with it the requests that still wait for a response.
      const respond = () => request.send(request.head([], { isEnd: false }), request.data('a body'));
      setTimeout(respond, 10 * (request.number % 2));
    },
    { certificate, protocols: ['h2'] },
  );
  const { send } = client();
  for (let i = 0; i < 2; i += 1) expect(await send(url, 20)).toEqual(Array(20).fill(200));
  await expect.poll(() => seen.open).toBe(0);
});

describe('a response that fails leaves the session to other requests', () => {
  const long = 'y'.repeat(maxHeadSize / 2);
  const interim = (request: PeerRequest) => request.head([['link', 'x']], { status: '103', isEnd: false });

  test.each<[string, (request: PeerRequest) => void, code: string]>([
    [
      'a head of more than 16 KiB',
      (request) =>
        request.send(
          request.head([
            ['x', long],
            ['y', long],
          ]),
        ),
      'ERR_HEADERS_TOO_LONG',
    ],
    [
      'endless interim responses',
      (request) => request.send(repeated(interim(request))),
      'ERR_HEADERS_TOO_LONG',
    ],
    [
      'two different locations',
      (request) =>
        request.send(
          request.head([
            ['location', '/a'],
            ['location', '/b'],
          ]),
        ),
      'ERR_AMBIGUOUS',
    ],
    ['INTERNAL_ERROR', (request) => request.reset(errors.internal), 'ECONNRESET'],
  ])('%s', async (_, respond, code) => {
    const { url, seen } = await http2Peer(second(respond), { certificate });
    const { send } = client();
    await send(url);
    expect((await send(url, 5)).toSorted()).toEqual([200, 200, 200, 200, code]);
    expect(await send(url)).toEqual([200]);
    expect(seen).toMatchObject({ connections: 1, http1: 0 });
  });

  test('resets of every stream', async () => {
    const { url, seen } = await http2Peer((request) => request.reset(errors.cancel), { certificate });
    const { send } = client();
    for (let i = 0; i < 20; i += 1) expect(await send(url, 50)).toEqual(Array(50).fill('ECONNRESET'));
    expect(seen).toMatchObject({ connections: 1, http2: 1_000, http1: 0 });
  });
});

test('a window of 0 bytes does not delay requests', async () => {
  const { url, seen } = await http2Peer(ok, { certificate, settings: [[settings.initialWindowSize, 0]] });
  expect(await client().send(url, 5)).toEqual(Array(5).fill(200));
  expect(seen).toMatchObject({ connections: 1, http1: 0 });
});

test('a limit of 0 streams affects no other origin', async () => {
  const { url, seen } = await http2Peer(ok, { certificate, settings: [[settings.maxConcurrentStreams, 0]] });
  const neighbour = await http2Peer(ok, { certificate });
  const { send } = client();
  await send(url, 5, { signal: AbortSignal.timeout(500) });
  expect(await send(neighbour.url, 5)).toEqual(Array(5).fill(200));
  expect(seen.connections).toBeLessThanOrEqual(5);
});

test('a session that hangs takes no more requests, and closes', async () => {
  const { url, seen } = await http2Peer((request) => request.connection > 1 && request.ok(), { certificate });
  const { send } = client();
  const timedOut = DOMException.TIMEOUT_ERR;
  expect(await send(url, 3, { signal: AbortSignal.timeout(1_200) })).toEqual(Array(3).fill(timedOut));
  expect(await send(url, 3)).toEqual(Array(3).fill(200));
  expect(seen).toMatchObject({ connections: 2, http1: 0 });
  await expect.poll(() => seen.open).toBe(1);
});
