import type { LookupAddress } from 'node:dns';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { issuedCertificate, testCertificate } from '@longhand/shared/testing/certificate.ts';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { createTurns } from '@longhand/shared/turns.ts';
import { type Shortener, startShortener } from '@longhand/shortener';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { hopRequest } from '../../testing/hop-request.ts';
import { answering, website } from '../../testing/website.ts';
import type { Lookup } from '../guard/lookup.ts';
import { checkUrls, createGuard } from '../guard/public-address.ts';
import { fetchHead, guardedRequest, inTurns, percentEncoded } from './fetch-hop.ts';
import { headReader } from './response-head.ts';

const shortener = await startShortener();

/** Allows only 127.0.0.1. All other addresses in 127.0.0.0/8 represent private addresses. */
const guard = createGuard(['127.0.0.1/32']);
const here = { address: '127.0.0.1', family: 4 };
const elsewhere = { address: '127.0.0.2', family: 4 };

/** Creates a function that fetches a hop. Its lookups return these answers in turn, then repeat the last answer. */
function hopFetcher(...answers: LookupAddress[][]) {
  const lookup: Lookup = async () => (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
  const { request, close } = guardedRequest({ guard, userAgent: 'test', lookup });
  onTestFinished(close);
  const fetchHop = checkUrls(guard)(fetchHead(request));
  return (url: string) => fetchHop(new URL(url), hopRequest());
}

/** Creates a certificate for these names, or for localhost. Node trusts it until the test ends. */
async function trusted(...names: string[]) {
  const certificate = await testCertificate(...names);
  const others = tls.getCACertificates();
  tls.setDefaultCACertificates([...others, certificate.cert]);
  onTestFinished(() => tls.setDefaultCACertificates(others));
  return certificate;
}

/** Options of a website for each protocol. */
const protocols = [
  ['http', {}],
  ['https', {}],
  ['HTTP/2', { http2: true }],
] as const;

const refusal = { code: 'target_refused' };

describe('Expansion procedure, rule 1', () => {
  test.each(protocols)('sends a HEAD request to the host and path over %s', async (name, options) => {
    const certificate = await trusted();
    const requests: unknown[] = [];
    const answer: RequestListener = ({ method, url, headers, socket, httpVersion }, response) => {
      const host = headers.host ?? headers[':authority'];
      requests.push([method, host, url, (socket as tls.TLSSocket).servername, httpVersion]);
      response.end();
    };
    const isPlain = name === 'http';
    const { port, protocol } = new URL(await website(answer, isPlain ? {} : { certificate, ...options }));
    const host = `localhost:${port}`;
    expect(await hopFetcher([here])(`${protocol}//${host}/a/b?c=d`)).toMatchObject({ status: 200 });
    const serverName = isPlain ? undefined : 'localhost';
    const version = name === 'HTTP/2' ? '2.0' : '1.1';
    expect(requests).toEqual([['HEAD', host, '/a/b?c=d', serverName, version]]);
  });
});

test.each(protocols)('sends a request to the IPv6 address in a URL over %s', async (name, options) => {
  const certificate = await trusted('::1');
  const requests: unknown[] = [];
  const answer: RequestListener = ({ headers, url, socket }, response) => {
    const host = headers.host ?? headers[':authority'];
    requests.push([host, (socket as tls.TLSSocket).servername || undefined]);
    response.writeHead(url === '/' ? 301 : 200, { Location: '/next' }).end();
  };
  const origin = await website(answer, {
    host: '::1',
    ...(name !== 'http' && { certificate, ...options }),
  });
  const { expand } = testExpander({}, { EXPANDER_ALLOWED_NETWORKS: '::1/128' });
  expect(await expand.chain(`${origin}/`)).toMatchObject({
    longUrl: `${origin}/next`,
    hops: [{ addressFamily: 6 }, { addressFamily: 6 }],
  });
  expect(requests).toEqual(Array(2).fill([new URL(origin).host, undefined]));
  const guarded = testExpander({}, { EXPANDER_ALLOWED_NETWORKS: '' });
  expect((await guarded.expand.chain(`${origin}/`)).error).toMatchObject(refusal);
});

describe.each(['http', 'HTTP/2'])('the guard checks the address of each connection over %s', (name) => {
  let shortener: Shortener;
  let other: string[];
  beforeAll(async () => {
    const certificate = await testCertificate('short.example');
    shortener = await startShortener(name === 'http' ? {} : { tls: certificate, http2: true });
    other = tls.getCACertificates();
    tls.setDefaultCACertificates([...other, certificate.cert]);
  });
  afterAll(async () => {
    tls.setDefaultCACertificates(other);
    await shortener.close();
  });
  const named = (path: string) => shortener.url.replace('127.0.0.1', 'short.example') + path;

  test('a host with only allowed addresses receives the request', async () => {
    expect(await hopFetcher([here])(named('/chain/1'))).toMatchObject({ status: 301, addressFamily: 4 });
  });

  test.each([
    ['its only address', [elsewhere]],
    ['the first of two addresses', [elsewhere, here]],
    ['the last of two addresses', [here, elsewhere]],
    ['an address of the other family', [here, { address: '::1', family: 6 }]],
  ])('a host is not contacted if the guard refuses %s', async (_, answers) => {
    const before = shortener.connections;
    await expect(hopFetcher(answers)(named('/chain/1'))).rejects.toMatchObject(refusal);
    expect(shortener.connections).toBe(before);
  });

  test('a host is checked again before a new connection (DNS rebinding)', async () => {
    const ask = hopFetcher([here], [elsewhere]);
    await ask(named('/close/1'));
    await expect(ask(named('/close/0'))).rejects.toMatchObject(refusal);
  });

  test.each(['127.0.0.2', '2130706434', '0x7f.2', '[::1]', '[::ffff:127.0.0.2]', '127.0.0.2.'])(
    'an address in the URL is refused without a lookup: %s',
    async (host) => {
      const url = shortener.url.replace('127.0.0.1', host);
      await expect(hopFetcher([here])(`${url}/`)).rejects.toMatchObject(refusal);
    },
  );
});

test('the certificate must match the name in the URL', async () => {
  const origin = await website((_, response) => void response.end(), { certificate: await trusted() });
  const { port } = new URL(origin);
  await expect(hopFetcher([here])(`https://other.example:${port}/`)).rejects.toMatchObject({
    code: 'request_failed',
    message: `other.example:${port} has a certificate for another name.`,
    facts: { reason: 'certificate', detail: 'ERR_TLS_CERT_ALTNAME_INVALID' },
  });
});

test.each([false, true])(
  'a certificate without its chain is reported as such, because browsers fetch the rest: HTTP/2 %s',
  async (http2) => {
    const origin = await website((_, response) => void response.end(), {
      certificate: await issuedCertificate(),
      http2,
    });
    const { port } = new URL(origin);
    await expect(hopFetcher([here])(`https://localhost:${port}/`)).rejects.toMatchObject({
      message: `localhost:${port} sends an incomplete certificate chain; browsers usually repair that.`,
      facts: { reason: 'certificate', detail: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
    });
  },
);

describe('a request fails with a specific message if the host', () => {
  test.each([
    ['refuses the connection', async () => `http://127.0.0.1:${await freePort()}/`, 'refused'],
    ['resets the connection', () => `${shortener.url}/reset`, 'closed'],
    ['closes the connection', () => answering((socket) => socket.end()), 'closed'],
    ['does not speak HTTP', () => `${shortener.url}/malformed`, 'not send a valid HTTP'],
    ['sends more than 16 KiB of headers', () => `${shortener.url}/headers/16384`, '16384 bytes'],
    ['does not speak TLS', () => shortener.url.replace('http:', 'https:'), 'to set up an encrypted'],
  ])('%s', async (_, url, message) => {
    await expect(hopFetcher([here])(await url())).rejects.toMatchObject({
      code: 'request_failed',
      message: expect.stringContaining(message),
    });
  });

  test('has no address', async () => {
    await expect(hopFetcher([])('http://short.example/')).rejects.toMatchObject({
      code: 'request_failed',
      message: 'There is no website named short.example.',
    });
  });
});

describe('a hop times out after 3 s', () => {
  const timeout = { code: 'timeout', message: expect.stringContaining('did not respond within 3 seconds') };

  test.concurrent.each<[string, (socket: Socket) => void]>([
    ['if the host does not respond', () => {}],
    [
      'if the host sends a slow head',
      (socket) => {
        const drip = setInterval(() => socket.write('H'), 500);
        socket.write('HTTP/1.1 200 OK\r\nX: ');
        socket.once('close', () => clearInterval(drip));
      },
    ],
    [
      'if the host sends endless interim responses',
      (socket) => {
        const more = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
        socket.once('close', () => clearInterval(more));
      },
    ],
  ])('%s', async (_, answer) => {
    const { error } = await testExpander().expand.chain(await answering(answer));
    expect(error).toMatchObject(timeout);
  });

  test.concurrent('and the chain keeps its earlier redirects', async () => {
    const u = `${shortener.url}/location?to=/hang`;
    const { error, longUrl, redirectCount } = await testExpander().expand.chain(u);
    expect(error).toMatchObject(timeout);
    expect([longUrl, redirectCount]).toEqual([`${shortener.url}/hang`, 1]);
  });
});

test('a cached location does not keep the whole head in memory', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const filler = 'x'.repeat(15_000);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: 3_000 }, (_, i) => {
    const bytes = Buffer.from(
      `HTTP/1.1 301 Moved\r\nLocation: http://a.example/${i}\r\nX: ${filler}\r\n\r\n`,
    );
    return percentEncoded(headReader().read(bytes.toString('latin1'))?.head.headers.location);
  });
  collectGarbage();
  // The heads take 43 MiB in total.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10 * 2 ** 20);
  expect(kept).toContain('http://a.example/2999');
});

test('a hop of another client does not wait for all hops of a client whose responses arrive together', async () => {
  const started: string[] = [];
  const fetchHop = inTurns(createTurns())(async ({ hostname }) => {
    started.push(hostname);
    const end = performance.now() + 3;
    while (performance.now() < end);
    return { status: 200, headers: {} } as never;
  });
  const fetchFor = (client: string) =>
    fetchHop(new URL(`http://${client}`), hopRequest({ requesters: { names: () => [client].values() } }));
  const hops = Array.from({ length: 30 }, () => fetchFor('a'));
  await Promise.all([...hops, fetchFor('b')]);
  expect(started.indexOf('b')).toBeLessThan(4);
});
