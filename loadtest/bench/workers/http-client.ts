/**
 * One HTTP agent in a separate process. It replies to `{ requests, url }` with the milliseconds of each of so many
 * requests on one connection, each sent in two writes; to `{ seconds, url }` with the result of a load of that length.
 */
import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connector, httpAgent, httpsAgent } from '@longhand/shared/agent.ts';
import agentkeepalive from 'agentkeepalive';
import { Agent, request } from 'undici';
import { closedLoop } from '../closed-loop.ts';

const connections = 32;
/** The test certificate is self-signed. */
const tls = { rejectUnauthorized: false };

/** Sends a GET, or a POST whose body is sent in two writes, and resolves with the status. */
type Send = (url: string, twoWrites: boolean) => Promise<number>;

const viaNode =
  (plain: http.Agent, secure: https.Agent): Send =>
  async (url, twoWrites) => {
    const [client, agent] = url.startsWith('https:') ? [https, secure] : [http, plain];
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const method = twoWrites ? 'POST' : 'GET';
    const request = client.request(url, { agent, method }, resolve).on('error', reject);
    if (twoWrites) {
      request.setHeader('Content-Length', 10);
      for await (const chunk of bodyInTwoWrites()) request.write(chunk);
    }
    request.end();
    const response = await promise;
    for await (const _ of response);
    return response.statusCode as number;
  };

function viaUndici(connect: Agent.Options['connect']): Send {
  const dispatcher = new Agent({ connections, connect });
  return async (url, twoWrites) => {
    const { statusCode, body } = await request(url, {
      dispatcher,
      ...(twoWrites && {
        method: 'POST',
        headers: { 'content-length': '10' },
        body: Readable.from(bodyInTwoWrites()),
      }),
    });
    await body.dump({ limit: 1e9 });
    return statusCode;
  };
}

/** The first chunk leaves with the headers; the second is a separate write, a turn of the event loop later. */
async function* bodyInTwoWrites() {
  yield Buffer.from('first');
  await nextTurn();
  await nextTurn();
  yield Buffer.from('later');
}

const pool = { keepAlive: true, maxSockets: connections };
/** Node documents `noDelay` as an option of its agents, but its types lack it. */
const nagle = { ...pool, noDelay: false } as http.AgentOptions;
const agents: Record<string, () => Send> = {
  ours: () => viaNode(httpAgent(), httpsAgent(tls)),
  'ours for undici': () => viaUndici(connector({ 'http:': httpAgent(), 'https:': httpsAgent(tls) })),
  'no-delay off': () => viaNode(new http.Agent(nagle), new https.Agent({ ...nagle, ...tls })),
  node: () => viaNode(new http.Agent(pool), new https.Agent({ ...pool, ...tls })),
  agentkeepalive: () =>
    viaNode(new agentkeepalive.HttpAgent(pool), new agentkeepalive.HttpsAgent({ ...pool, ...tls })),
  undici: () => viaUndici(tls),
};

const send = (agents[process.argv[2] ?? ''] as () => Send)();

async function latencies(requests: number, url: string): Promise<number[]> {
  const milliseconds: number[] = [];
  for (let i = 0; i < requests; i += 1) {
    const started = performance.now();
    await send(url, true);
    milliseconds.push(performance.now() - started);
  }
  return milliseconds;
}

process.on('message', async (message: { url: string } & ({ requests: number } | { seconds: number })) => {
  const { url } = message;
  const request = async () => (await send(url, false)) === 200;
  process.send?.(
    'requests' in message
      ? await latencies(message.requests, url)
      : await closedLoop(message.seconds, { concurrency: connections, request }),
  );
});
process.send?.({ url: '' });
