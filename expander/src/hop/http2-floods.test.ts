import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { expect, test } from 'vitest';
import { errors, frame, settings } from '../../testing/http2-frames.ts';
import { http2Peer, type PeerRequest, peerClient } from '../../testing/http2-peer.ts';

const certificate = await testCertificate();
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Returns the bytes that JavaScript, buffers and HTTP/2 sessions hold. */
async function heldBytes(): Promise<number> {
  // Objects of a session need more than one collection.
  for (let i = 0; i < 3; i += 1) {
    collectGarbage();
    await new Promise(setImmediate);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Sends frames before each response, fewer than Node would reject. */
const before =
  (bytes: Uint8Array, count = 100) =>
  (request: PeerRequest) =>
    request.send(...Array(count).fill(bytes), request.head([['content-length', '0']]));

const uint32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer).swap32();
const long = 'x'.repeat(15_000);
const everySecond = (flood: (request: PeerRequest) => void) => (request: PeerRequest) =>
  request.number % 2 ? request.ok() : flood(request);
/** Ends each session with its 16th request, so that a repeated request succeeds. */
const lastOfSession = (end: (request: PeerRequest) => void) => (request: PeerRequest) =>
  request.stream < 31 ? request.ok() : end(request);

/** Requests of a short flood, sent eight at once. A long flood has four times as many. */
const short = 400;

/** Less than 450 bytes for each request. */
const allowedGrowth = 512 * 1024;

test.each<[string, (request: PeerRequest) => unknown]>([
  ['PING', before(frame('ping', 0, 0, Buffer.alloc(8)))],
  ['SETTINGS', before(frame('settings', 0, 0))],
  [
    'SETTINGS with another value each time',
    (request) =>
      request.send(
        frame('settings', 0, 0, Buffer.concat([Buffer.from([0, 1]), uint32(request.number)])),
        request.head(),
      ),
  ],
  ['WINDOW_UPDATE', before(frame('windowUpdate', 0, 0, uint32(1)))],
  ['unknown frames', before(frame('unknown', 0, 0, Buffer.alloc(100)), 5)],
  ['RST_STREAM', (request) => request.reset(errors.cancel)],
  ['long heads', (request) => request.send(request.head([[`x${request.number}`, long]]))],
  [
    'interim responses',
    everySecond((request) =>
      request.send(
        ...Array(100).fill(request.head([['link', long.slice(0, 200)]], { status: '103', isEnd: false })),
      ),
    ),
  ],
  [
    'empty DATA frames',
    (request) => {
      const empty = request.data('', false);
      request.send(request.head([], { isEnd: false }), ...Array(100).fill(empty), request.data(''));
    },
  ],
  ['GOAWAY', lastOfSession((request) => request.goAway(0, request.stream - 2))],
  ['closed connections', lastOfSession(({ socket }) => void socket.end())],
])('a flood of %s does not grow memory', async (_, respond) => {
  const { url, seen } = await http2Peer(respond, {
    certificate,
    settings: [[settings.initialWindowSize, 0]],
  });
  const { send } = peerClient(certificate);
  const requests = async (count: number) => {
    for (let i = 0; i < count; i += 8) await send(url, 8, { method: 'GET' });
  };
  await requests(short);
  let growth = Number.POSITIVE_INFINITY;
  // Other tests of this process may hold more at any time. What a flood leaves behind grows each time.
  for (let i = 0; i < 3 && growth >= allowedGrowth; i += 1) {
    const held = await heldBytes();
    await requests(3 * short);
    growth = Math.min(growth, (await heldBytes()) - held);
  }
  expect(growth).toBeLessThan(allowedGrowth);
  // A flood that Node rejects would have moved the requests to HTTP/1.1.
  expect(seen.http1).toBe(0);
});
