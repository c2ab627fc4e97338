import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { seed } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { data, frame, head, types } from '../../testing/http2-frames.ts';
import { http2Peer, openPeerClient, type PeerRequest, peerClient } from '../../testing/http2-peer.ts';
import { mixed, words } from '../../testing/pieces.ts';

const certificate = await testCertificate();
const servers = rounds({ short: 100, long: 5_000 });

const name = mixed(words`:status :path location set-cookie content-length connection te x X é`, 2);
const value = mixed(
  [...words`200 302 103 99 / a , ; = é http://b.example/`, ' ', '\r\n', '\0', 'x'.repeat(9_000)],
  3,
);
const field = fc.tuple(name, value);
const status = fc.constant([':status', '302'] as [string, string]);
const fields = fc.array(fc.oneof(field, status), { maxLength: 6 });
const stream = fc.constantFrom(0, 1, 3, 2, 2 ** 31 - 1);

/** Frames that a server may send: well-formed heads and bodies, frames of every type, and bytes. */
const sent = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.tuple(stream, fields, fc.boolean()).map((parts) => head(...parts)) },
    { weight: 2, arbitrary: fc.tuple(stream, fc.string(), fc.boolean()).map((parts) => data(...parts)) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.constantFrom(...(Object.keys(types) as (keyof typeof types)[])),
          fc.nat(255),
          stream,
          fc.uint8Array({ maxLength: 20 }),
        )
        .map((parts) => frame(...parts)),
    },
    fc.uint8Array({ maxLength: 40 }),
  ),
  { minLength: 1, maxLength: 8 },
);

const duration = { timeout: 600_000 };
test(
  `any frames end in a response or an error, and in no other request (${servers} servers)`,
  duration,
  async () => {
    const healthy = await http2Peer((request) => request.ok(), { certificate });
    let frames: Uint8Array[] = [];
    const respond = (request: PeerRequest) => {
      request.send(...frames);
      request.socket.end();
    };
    const { url } = await http2Peer(respond, { certificate });
    const neighbour = peerClient(certificate);
    await fc.assert(
      fc.asyncProperty(sent, fc.constantFrom('HEAD' as const, 'GET' as const), async (next, method) => {
        frames = next;
        // A new client does not know yet that the server breaks HTTP/2.
        const { send, close } = openPeerClient(certificate);
        const [result] = await send(url, 1, {
          method,
          bodyLimit: () => 100,
          signal: AbortSignal.timeout(5_000),
        });
        close();
        expect(result).not.toBe(DOMException.TIMEOUT_ERR);
        expect(result).toEqual(
          typeof result === 'string' ? expect.stringMatching(/^[A-Z_0-9]+$/) : expect.any(Number),
        );
      }),
      { seed, numRuns: servers },
    );
    expect(await neighbour.send(healthy.url, 5)).toEqual(Array(5).fill(200));
  },
);
