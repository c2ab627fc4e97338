import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testCertificate } from '../testing/certificate.ts';
import { cutOff, listening, noDelay } from '../testing/listening.ts';
import { httpAgent, httpsAgent } from './agent.ts';

const certificate = await testCertificate();

/** Starts a server that closes when the test ends. */
async function listen(scheme: 'http' | 'https') {
  const respond: RequestListener = (req, res) => req.resume().on('end', () => res.end('ok'));
  const server = scheme === 'http' ? http.createServer(respond) : https.createServer(certificate, respond);
  onTestFinished(() => cutOff(server));
  return { server, url: new URL(`${scheme}://localhost:${await listening(server)}/`) };
}

/** Creates an agent that trusts the test certificate. */
function agent(scheme: 'http' | 'https', options: https.AgentOptions = {}) {
  const made = scheme === 'http' ? httpAgent(options) : httpsAgent({ ca: certificate.cert, ...options });
  onTestFinished(() => made.destroy());
  return made;
}

/** Sends a request in two writes. Returns the request's socket and duration. */
async function sendInTwoWrites(url: URL, agent: http.Agent) {
  const started = performance.now();
  const options = { agent, method: 'POST', headers: { 'Content-Length': 10 } };
  const sent = (url.protocol === 'https:' ? https : http).request(url, options);
  sent.write('first');
  setImmediate(() => sent.end('again'));
  const [response] = (await once(sent, 'response')) as [http.IncomingMessage];
  await response.toArray();
  return { socket: sent.socket as Socket, milliseconds: performance.now() - started };
}

describe.each(['http', 'https'] as const)('Agent over %s', (scheme) => {
  test("supports createConnection(port, host, options), like Node's agent", async () => {
    const { url } = await listen(scheme);
    const made = agent(scheme);
    const open = made.createConnection.bind(made) as unknown as (...args: unknown[]) => Socket;
    const socket = open(Number(url.port), 'localhost', { ca: certificate.cert });
    await once(socket, scheme === 'https' ? 'secureConnect' : 'connect');
    expect(noDelay(socket)).toBe(true);
    socket.destroy();
  });

  test.each<https.AgentOptions>([{}, { noDelay: false } as object])(
    'enables TCP_NODELAY on a reused socket (options: %o)',
    async (options) => {
      const { url } = await listen(scheme);
      const made = agent(scheme, Object.freeze(options));
      const { socket } = await sendInTwoWrites(url, made);
      expect(noDelay(socket)).toBe(true);
      expect((await sendInTwoWrites(url, made)).socket).toBe(socket);
    },
  );

  test('resolves names with its `lookup` option', async () => {
    const { url } = await listen(scheme);
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
    ['1 s before the server closes it', 2_000, 1_000],
    ['after 4 s at the latest', 60_000, 4_000],
  ])('closes an idle socket %s', async (_, keepAliveTimeout, closed) => {
    const { url, server } = await listen(scheme);
    server.keepAliveTimeout = keepAliveTimeout; // sends `Keep-Alive: timeout=…`
    const { socket } = await sendInTwoWrites(url, agent(scheme));
    expect(socket.timeout).toBe(closed);
    if (closed < 4_000) await once(socket, 'close');
  });
});

test.each(['http', 'https'] as const)(
  'Keep-alive latency rule: over %s, a request in two writes takes 40 ms longer only without no-delay',
  async (scheme) => {
    const { url } = await listen(scheme);
    const options = { keepAlive: true, noDelay: false, ca: certificate.cert };
    const delaying = scheme === 'http' ? new http.Agent(options) : new https.Agent(options);
    onTestFinished(() => delaying.destroy());
    /** Returns the median duration of all requests except the first. */
    const time = async (used: http.Agent) => {
      await sendInTwoWrites(url, used);
      const later: number[] = [];
      for (let n = 0; n < 9; n++) later.push((await sendInTwoWrites(url, used)).milliseconds);
      return later.toSorted((a, b) => a - b)[4] as number;
    };
    // The kernel delays the acknowledgement by 40 ms, however fast the machine is.
    const off = await time(delaying);
    expect(off).toBeGreaterThan(35);
    await expect.poll(() => time(agent(scheme))).toBeLessThan(off / 2);
  },
);

test('by default, an agent opens up to 64 sockets per origin and 1,280 in total', () => {
  expect(agent('https')).toMatchObject({ maxSockets: 64, maxFreeSockets: 64, maxTotalSockets: 1_280 });
  const own = { maxSockets: 2, maxFreeSockets: 1, maxTotalSockets: 3 };
  expect(agent('http', own)).toMatchObject(own);
});
