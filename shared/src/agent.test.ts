import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { testCertificate } from '../testing/certificate.ts';
import { cutOff, listening, noDelay } from '../testing/listening.ts';
import { httpAgent, httpsAgent } from './agent.ts';

const certificate = await testCertificate();
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function listen(scheme: 'http' | 'https', listener: RequestListener) {
  const server = scheme === 'http' ? http.createServer(listener) : https.createServer(certificate, listener);
  const port = await listening(server);
  stops.push(() => cutOff(server));
  return { server, url: new URL(`${scheme}://localhost:${port}/`) };
}

/** Our agent for a scheme, which trusts the test's certificate. */
function agent(scheme: 'http' | 'https', options: https.AgentOptions = {}) {
  const made = scheme === 'http' ? httpAgent(options) : httpsAgent({ ca: certificate.cert, ...options });
  stops.push(() => made.destroy());
  return made;
}

/** Sends a request in two writes. Resolves with its socket and the milliseconds it took. */
function sendInTwoWrites(url: URL, agent: http.Agent): Promise<{ socket: Socket; milliseconds: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ socket: Socket; milliseconds: number }>();
  const started = performance.now();
  const options = { agent, method: 'POST', headers: { 'Content-Length': 10 } };
  const sent = (url.protocol === 'https:' ? https : http).request(url, options, async (response) => {
    await response.toArray();
    resolve({ socket: sent.socket as Socket, milliseconds: performance.now() - started });
  });
  sent.on('error', reject);
  sent.write('first');
  setImmediate(() => sent.end('again'));
  return promise;
}

const drainAndRespond: RequestListener = (req, res) => req.resume().on('end', () => res.end('ok'));

describe.each(['http', 'https'] as const)('Agent over %s', (scheme) => {
  test('has a createConnection(port, host, options) as in Node', async () => {
    const { url } = await listen(scheme, drainAndRespond);
    const made = agent(scheme);
    const open = made.createConnection.bind(made) as unknown as (...args: unknown[]) => Socket;
    const socket = open(Number(url.port), 'localhost', { ca: certificate.cert });
    await once(socket, scheme === 'https' ? 'secureConnect' : 'connect');
    expect(noDelay(socket)).toBe(true);
    socket.destroy();
  });

  test.each([{}, { keepAlive: true, noDelay: false }])(
    'reuses the socket, with TCP no-delay on, with the options %o',
    async (options) => {
      const { url } = await listen(scheme, drainAndRespond);
      const made = agent(scheme, Object.freeze(options));
      const { socket } = await sendInTwoWrites(url, made);
      expect(noDelay(socket)).toBe(true);
      expect((await sendInTwoWrites(url, made)).socket).toBe(socket);
    },
  );

  test('resolves names with the lookup of its options', async () => {
    const { url } = await listen(scheme, drainAndRespond);
    const resolved: string[] = [];
    const lookup: https.AgentOptions['lookup'] = (name, options, done) => {
      resolved.push(name);
      if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }]);
      else done(null, '127.0.0.1', 4);
    };
    await sendInTwoWrites(url, agent(scheme, { lookup }));
    expect(resolved).toEqual(['localhost']);
  });

  test.each([
    ['1 s before the timeout of the server', 2_000, 1_000],
    ['after 4 s if that timeout is longer', 60_000, 4_000],
  ])('closes an idle socket %s', async (_, keepAliveTimeout, closed) => {
    const { url, server } = await listen(scheme, drainAndRespond);
    server.keepAliveTimeout = keepAliveTimeout; // sends `Keep-Alive: timeout=…`
    const { socket } = await sendInTwoWrites(url, agent(scheme));
    expect(socket.timeout).toBe(closed);
    if (closed < 4_000) await once(socket, 'close');
  });
});

test.each(['http', 'https'] as const)(
  'Keep-alive latency rule: over %s, a request in two writes waits 40 ms only with no-delay off',
  async (scheme) => {
    const { url } = await listen(scheme, drainAndRespond);
    const options = { keepAlive: true, noDelay: false, ca: certificate.cert };
    const delaying = scheme === 'http' ? new http.Agent(options) : new https.Agent(options);
    stops.push(() => delaying.destroy());
    /** The median of later requests. */
    const time = async (used: http.Agent) => {
      await sendInTwoWrites(url, used);
      const later: number[] = [];
      for (let n = 0; n < 9; n++) later.push((await sendInTwoWrites(url, used)).milliseconds);
      return later.toSorted((a, b) => a - b)[4] as number;
    };
    // The kernel delays the acknowledgement by 40 ms on any machine.
    const off = await time(delaying);
    expect(off).toBeGreaterThan(35);
    expect(await time(agent(scheme))).toBeLessThan(off / 2);
  },
);

test('an agent has up to 64 sockets per origin, idle or not, and 1,280 in total; options override that', () => {
  expect(agent('https')).toMatchObject({ maxSockets: 64, maxFreeSockets: 64, maxTotalSockets: 1_280 });
  const own = { maxSockets: 2, maxFreeSockets: 1, maxTotalSockets: 3 };
  expect(agent('http', own)).toMatchObject(own);
});
