import { once } from 'node:events';
import http, { type IncomingMessage, type RequestListener } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { testCertificate } from '../testing/certificate.ts';
import { cutOff, listening } from '../testing/listening.ts';
import { noDelay } from '../testing/no-delay.ts';
import { httpAgent, httpsAgent } from './agent.ts';

const certificate = await testCertificate();
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function listen(scheme: 'http' | 'https', answer: RequestListener) {
  const server = scheme === 'http' ? http.createServer(answer) : https.createServer(certificate, answer);
  const port = await listening(server);
  stops.push(() => cutOff(server));
  return { server, url: new URL(`${scheme}://localhost:${port}/`) };
}

/** Our agent of a scheme; names resolve to 127.0.0.1 and the test's own certificate is trusted. */
function agent(scheme: 'http' | 'https', options: https.AgentOptions = {}) {
  const made = scheme === 'http' ? httpAgent(options) : httpsAgent({ ca: certificate.cert, ...options });
  stops.push(() => made.destroy());
  return made;
}

/** Reads the response to its end. */
async function ended(response: IncomingMessage): Promise<string> {
  return (await response.toArray()).join('');
}

/** Sends a request in two writes and resolves with the socket it went over and the milliseconds it took. */
function sendInTwoWrites(url: URL, agent: http.Agent): Promise<{ socket: Socket; milliseconds: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ socket: Socket; milliseconds: number }>();
  const started = performance.now();
  const options = { agent, method: 'POST', headers: { 'Content-Length': 10 } };
  const sent = (url.protocol === 'https:' ? https : http).request(url, options, async (response) => {
    await ended(response);
    resolve({ socket: sent.socket as Socket, milliseconds: performance.now() - started });
  });
  sent.on('error', reject);
  sent.write('first');
  setImmediate(() => sent.end('again'));
  return promise;
}

const drainAndAnswer: RequestListener = (req, res) => req.resume().on('end', () => res.end('ok'));

describe.each(['http', 'https'] as const)('Agent over %s', (scheme) => {
  test('createConnection takes port, host and options, as Node does', async () => {
    const { url } = await listen(scheme, drainAndAnswer);
    const made = agent(scheme);
    const open = made.createConnection.bind(made) as unknown as (...args: unknown[]) => Socket;
    const socket = open(Number(url.port), 'localhost', { ca: certificate.cert });
    await once(socket, scheme === 'https' ? 'secureConnect' : 'connect');
    expect(noDelay(socket)).toBe(true);
    socket.destroy();
  });

  test('who replaces createConnection of the class later is heard, and no-delay is on all the same', async () => {
    const { url } = await listen(scheme, drainAndAnswer);
    const made = agent(scheme);
    const { prototype } = scheme === 'http' ? http.Agent : https.Agent;
    const replaced = vi.spyOn(prototype, 'createConnection');
    stops.push(() => replaced.mockRestore());
    const { socket } = await sendInTwoWrites(url, made);
    expect(replaced).toHaveBeenCalledTimes(1);
    expect(noDelay(socket)).toBe(true);
  });

  test.each([
    ['every socket has TCP no-delay on', {}],
    ['no-delay is on whatever the options say', { keepAlive: true, noDelay: false }],
  ])('%s', async (_, options) => {
    const { url } = await listen(scheme, drainAndAnswer);
    const { socket } = await sendInTwoWrites(url, agent(scheme, options));
    expect(noDelay(socket)).toBe(true);
  });

  test('the second request reuses the socket of the first', async () => {
    const { url } = await listen(scheme, drainAndAnswer);
    const kept = agent(scheme);
    const first = await sendInTwoWrites(url, kept);
    const second = await sendInTwoWrites(url, kept);
    expect(second.socket).toBe(first.socket);
  });

  test("the caller's options are left unchanged", async () => {
    const options = Object.freeze({ maxSockets: 3, timeout: 1_000 });
    expect(agent(scheme, options).maxSockets).toBe(3);
    expect(options).toEqual({ maxSockets: 3, timeout: 1_000 });
  });

  test('the lookup of the options is asked for names', async () => {
    const { url } = await listen(scheme, drainAndAnswer);
    const asked: string[] = [];
    const lookup: https.AgentOptions['lookup'] = (name, options, done) => {
      asked.push(name);
      if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }]);
      else done(null, '127.0.0.1', 4);
    };
    await sendInTwoWrites(url, agent(scheme, { lookup }));
    expect(asked).toEqual(['localhost']);
  });

  test.each([
    ['1 s before the time the server names', 2_000, 1_000],
    ['after 4 s where the server names a longer time, or none', 60_000, 4_000],
  ])('an idle socket is closed %s', async (_, keepAliveTimeout, closed) => {
    const { url, server } = await listen(scheme, drainAndAnswer);
    server.keepAliveTimeout = keepAliveTimeout; // sends `Keep-Alive: timeout=…`
    const { socket } = await sendInTwoWrites(url, agent(scheme));
    expect(socket.timeout).toBe(closed);
    if (closed < 4_000) await once(socket, 'close');
  });
});

describe('Keep-alive latency rule', () => {
  const median = (times: number[]) => times.toSorted((a, b) => a - b)[times.length >> 1] as number;

  test.each(['http', 'https'] as const)(
    'over %s, two-write requests after the first wait for a delayed acknowledgement with no-delay off, and do not with it on',
    async (scheme) => {
      const { url } = await listen(scheme, drainAndAnswer);
      const options = { keepAlive: true, noDelay: false, ca: certificate.cert };
      const delaying = scheme === 'http' ? new http.Agent(options) : new https.Agent(options);
      stops.push(() => delaying.destroy());
      const times = async (used: http.Agent) => {
        await sendInTwoWrites(url, used);
        const later: number[] = [];
        for (let n = 0; n < 9; n++) later.push((await sendInTwoWrites(url, used)).milliseconds);
        return median(later);
      };
      // 40 ms is the kernel's delayed acknowledgement, not the speed of a machine.
      const off = await times(delaying);
      expect(off).toBeGreaterThan(35);
      expect(await times(agent(scheme))).toBeLessThan(off / 2);
    },
  );
});

test('there are at most 64 sockets to an origin, idle or not, and 1,280 in total; options win', () => {
  expect(agent('https')).toMatchObject({ maxSockets: 64, maxFreeSockets: 64, maxTotalSockets: 1_280 });
  const own = { maxSockets: 2, maxFreeSockets: 1, maxTotalSockets: 3 };
  expect(agent('http', own)).toMatchObject(own);
});
