import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { parseArgs } from 'node:util';

export interface Shortener {
  /** Its address without a slash at the end, such as `http://127.0.0.1:9000`. */
  readonly url: string;
  readonly port: number;
  /** Connections opened to it so far. */
  readonly connections: number;
  /** Requests answered so far by method and path, the query left out: `requests.get('HEAD /chain/2')`. */
  readonly requests: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

export interface ShortenerOptions {
  /** 0, the default, picks a free one. */
  port?: number;
  host?: string;
  /** A certificate makes it answer https. */
  tls?: { key: string; cert: string };
}

/**
 * Starts a link shortener that needs no database: the path says how the link behaves, see `examples`.
 * It is for tests, load scripts and for trying the expander without the internet.
 */
export async function startShortener(options: ShortenerOptions = {}): Promise<Shortener> {
  const { port = 0, host = '127.0.0.1', tls } = options;
  const requests = new Map<string, number>();
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const target = request.url ?? '/';
    const queryStart = target.indexOf('?');
    const path = queryStart < 0 ? target : target.slice(0, queryStart);
    const query = queryStart < 0 ? '' : target.slice(queryStart);
    const counted = `${request.method} ${path}`;
    requests.set(counted, (requests.get(counted) ?? 0) + 1);
    const [, name = '', ...rest] = path.split('/');
    const link = Object.hasOwn(links, name) ? links[name] : undefined;
    try {
      if (!link) throw new RangeError(`there is no link ${path}`);
      link({ request, response, rest, query, params: new URLSearchParams(query) });
    } catch (error) {
      end(response, 404, `${error}\n`);
    }
  };

  let connections = 0;
  const server = tls ? https.createServer(tls, answer) : http.createServer(answer);
  server.on('connection', () => {
    connections += 1;
  });
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject).listen(port, host, listening.resolve);
  await listening.promise;

  const at = (server.address() as AddressInfo).port;
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${at}`,
    port: at,
    requests,
    get connections() {
      return connections;
    },
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

/** What the paths mean, one line each. */
export const examples: readonly (readonly [path: string, meaning: string])[] = [
  ['/chain/2', 'two redirects, then 200'],
  ['/chain/3?id=mine', 'a chain of its own for every id, unknown to any cache'],
  ['/chain/3?status=308&delay=200', 'another status (301 unless said), 200 ms for each hop'],
  ['/chain/3?relative', 'Location as a path instead of a whole URL'],
  ['/chain/3?cache-control=max-age%3D60', 'with that Cache-Control on every hop'],
  ['/loop', 'redirects to itself; /loop/3 comes round after three'],
  ['/status/503', 'any status'],
  ['/delay/500', '200 after 500 ms'],
  ['/hang', 'never answers'],
  ['/reset', 'the connection is reset'],
  ['/malformed', 'an answer that is not HTTP'],
  ['/headers/20000', '200 with a header of so many bytes'],
  ['/endless', '200, HEAD as usual, GET with a body that never ends'],
  ['/no-location', '302 without Location'],
  ['/empty-location', '302 with an empty Location'],
  ['/location?to=http://example.com/é', '302 (or status=301) with those bytes, percent-decoded, as Location'],
  ['/head-not-allowed/2', 'HEAD gets 405 (or answer=501), GET follows the chain'],
  ['/head-reset/2', 'HEAD is reset, GET follows the chain'],
  ['/close/2', 'a chain whose server closes the connection after every answer'],
];

interface Visit {
  request: IncomingMessage;
  response: ServerResponse;
  /** The parts of the path after the name of the link. */
  rest: readonly string[];
  /** The query with its question mark, or empty. */
  query: string;
  params: URLSearchParams;
}

const links: Record<string, (visit: Visit) => void> = {
  '': ({ response }) => end(response, 200, list('')),
  chain,
  loop({ request, response, rest, params }) {
    const length = Number(rest[0] ?? 1);
    const next = (Number(params.get('at') ?? 0) + 1) % length;
    const path = rest[0] === undefined ? '/loop' : `/loop/${rest[0]}${next === 0 ? '' : `?at=${next}`}`;
    redirect(response, 301, origin(request) + path);
  },
  status: ({ response, rest }) => end(response, Number(rest[0]), `${rest[0]}\n`),
  delay: ({ response, rest }) => later(response, Number(rest[0]), () => end(response, 200, 'At last.\n')),
  hang() {},
  reset: ({ request }) => reset(request),
  malformed: ({ request }) => request.socket.end('These bytes are not HTTP.\r\n\r\n'),
  headers({ response, rest }) {
    response.setHeader('X-Filler', 'x'.repeat(Number(rest[0])));
    end(response, 200, 'That was much.\n');
  },
  endless({ request, response }) {
    response.writeHead(200, { 'Content-Type': 'text/plain' });
    if (request.method === 'HEAD') return response.end();
    const more = () => {
      while (!response.destroyed && response.write('and so on '.repeat(1_000)));
    };
    response.on('drain', more);
    more();
  },
  'no-location': ({ response }) => end(response, 302, ''),
  'empty-location': ({ response }) => redirect(response, 302, ''),
  location({ request, params, query }) {
    // Everything after `to=`, so that an address with `&` in it needs no quoting; past Node's own check of headers.
    const to = query.replace(/^.*?[?&]to=/, '').replace(/%[0-9a-f]{2}/gi, byte);
    const status = Number(params.get('status') ?? 302);
    request.socket.write(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nLocation: `);
    request.socket.write(to, 'latin1');
    request.socket.end('\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  },
  'head-not-allowed': (visit) => {
    if (visit.request.method !== 'HEAD') return chain(visit);
    end(visit.response, Number(visit.params.get('answer') ?? 405), '');
  },
  'head-reset': (visit) => (visit.request.method === 'HEAD' ? reset(visit.request) : chain(visit)),
  close(visit) {
    visit.response.shouldKeepAlive = false;
    chain(visit);
  },
};

/** `/<name>/<n>`: a redirect to `/<name>/<n - 1>` with the same query; at 0 the page at the end. */
function chain({ request, response, rest, query, params }: Visit): void {
  const left = Number(rest[0]);
  if (!(left >= 0 && Number.isInteger(left))) throw new RangeError(`${rest[0]} is no number of redirects`);
  const cacheControl = params.get('cache-control');
  if (cacheControl) response.setHeader('Cache-Control', cacheControl);
  later(response, Number(params.get('delay') ?? 0), () => {
    if (left === 0) return end(response, 200, 'This is where the short URL leads.\n');
    const name = (request.url ?? '').split('/', 2)[1];
    const base = params.has('relative') ? '' : origin(request);
    redirect(response, Number(params.get('status') ?? 301), `${base}/${name}/${left - 1}${query}`);
  });
}

function redirect(response: ServerResponse, status: number, location: string): void {
  response.setHeader('Location', location);
  end(response, status, '');
}

/** Node leaves the body out of what answers HEAD, and keeps its length. */
function end(response: ServerResponse, status: number, body: string): void {
  if (!(status >= 200 && status <= 599)) throw new RangeError(`${status} is not a final status`);
  response.writeHead(status, { 'Content-Type': 'text/plain', 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

function reset(request: IncomingMessage): void {
  // Over TLS the socket at hand wraps the one that can be reset.
  const socket = request.socket as Socket & { _parent?: Socket };
  (socket._parent ?? socket).resetAndDestroy();
}

function later(response: ServerResponse, milliseconds: number, then: () => void): void {
  if (!milliseconds) {
    then();
    return;
  }
  const timer = setTimeout(then, milliseconds);
  response.once('close', () => clearTimeout(timer));
}

/** The character of Latin-1, one byte on the wire, that `%XX` stands for. */
const byte = (escaped: string) => String.fromCharCode(Number.parseInt(escaped.slice(1), 16));

function origin(request: IncomingMessage): string {
  return `${'encrypted' in request.socket ? 'https' : 'http'}://${request.headers.host}`;
}

const list = (url: string) =>
  examples.map(([path, meaning]) => `${`${url}${path}`.padEnd(56 + url.length / 2)}  ${meaning}\n`).join('');

if (import.meta.main) {
  const { values } = parseArgs({
    options: { port: { type: 'string', default: '9000' }, host: { type: 'string', default: '127.0.0.1' } },
  });
  const { url } = await startShortener({ port: Number(values.port), host: values.host });
  console.log(`The local shortener answers at ${url} until Ctrl-C. Links to try:\n\n${list(url)}`);
}
