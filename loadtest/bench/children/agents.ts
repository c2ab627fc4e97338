/**
 * One agent in a process of its own. Told `{ first, url }` it answers how long the requests 1 to 12 of one
 * connection take, each sent in two writes; told `{ load, url }`, how many it sends in so many seconds.
 */
import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { httpAgent, httpsAgent } from '@longhand/shared/agent.ts';
import agentkeepalive from 'agentkeepalive';
import { Agent, request } from 'undici';
import { oneByOne } from '../one-by-one.ts';

const connections = 32;
/** The certificate of the test is nobody's to check. */
const tls = { rejectUnauthorized: false };

/** Sends one request, its body in two writes or none at all, and resolves with the status. */
type Send = (url: string, twoWrites: boolean) => Promise<number>;

const throughNode =
  (plain: http.Agent, secure: https.Agent): Send =>
  async (url, twoWrites) => {
    const secured = url.startsWith('https:');
    const options = { agent: secured ? secure : plain, method: twoWrites ? 'POST' : 'GET' };
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const sent = (secured ? https : http).request(url, options, resolve).on('error', reject);
    if (twoWrites) {
      // Headers and the first piece leave together; the second is a write of its own, a turn later.
      sent.setHeader('Content-Length', 10);
      sent.write('first');
      await nextTurn();
      await nextTurn();
      sent.end('later');
    } else {
      sent.end();
    }
    const answer = await promise;
    for await (const _ of answer);
    return answer.statusCode as number;
  };

function throughUndici(): Send {
  const dispatcher = new Agent({ connections, connect: tls });
  return async (url, twoWrites) => {
    const { statusCode, body } = await request(url, {
      dispatcher,
      ...(twoWrites && {
        method: 'POST',
        headers: { 'content-length': '10' },
        body: Readable.from(pieces()),
      }),
    });
    await body.dump({ limit: 1e9 });
    return statusCode;
  };
}

async function* pieces() {
  yield Buffer.from('first');
  await nextTurn();
  await nextTurn();
  yield Buffer.from('later');
}

const pool = { keepAlive: true, maxSockets: connections };
/** `noDelay` is an option that Node's documentation of its agents has, and its types have not. */
const delaying = { ...pool, noDelay: false } as http.AgentOptions;
const agents: Record<string, () => Send> = {
  ours: () => throughNode(httpAgent(), httpsAgent(tls)),
  'no-delay off': () => throughNode(new http.Agent(delaying), new https.Agent({ ...delaying, ...tls })),
  node: () => throughNode(new http.Agent(pool), new https.Agent({ ...pool, ...tls })),
  agentkeepalive: () =>
    throughNode(new agentkeepalive.HttpAgent(pool), new agentkeepalive.HttpsAgent({ ...pool, ...tls })),
  undici: throughUndici,
};

const send = (agents[process.argv[2] ?? ''] as () => Send)();

type Question = { first: number; url: string } | { load: number; url: string };

process.on('message', async (question: Question) => {
  const { url } = question;
  if ('load' in question) {
    const ask = async () => (await send(url, false)) === 200;
    process.send?.(await oneByOne(question.load, { users: connections, request: ask }));
  } else {
    const milliseconds: number[] = [];
    for (let i = 0; i < question.first; i += 1) {
      const started = performance.now();
      await send(url, true);
      milliseconds.push(performance.now() - started);
    }
    process.send?.(milliseconds);
  }
});
process.send?.({ url: '' });
