import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';

/** Example paths and their responses. */
const examples: readonly (readonly [path: string, meaning: string])[] = [
  ['/chain/2', 'two redirects, then 200'],
  ['/chain/3?id=mine', 'a different chain for every id, which bypasses caches'],
  ['/chain/3?status=308&delay=200', 'every hop returns 308 (by default 301) after 200 ms'],
  ['/chain/3?cache-control=max-age%3D60', 'every hop returns this Cache-Control'],
  ['/loop', 'redirects to itself'],
  ['/status/503', 'any status'],
  ['/delay/500', '200 after 500 ms'],
  ['/hang', 'never responds'],
  ['/reset', 'resets the connection'],
  ['/malformed', 'a response that is not HTTP'],
  ['/headers/20000', '200 with a header of 20,000 bytes'],
  ['/endless', '200 with an endless body for GET'],
  ['/location?to=http://example.com/é', '302 (or status=301) with this Location, percent-decoded'],
  ['/close/2', 'like /chain/2, but closes the connection after every response'],
];

export const listExamples = (url: string) =>
  examples.map(([path, meaning]) => `${`${url}${path}`.padEnd(56 + url.length / 2)}  ${meaning}\n`).join('');

interface Visit {
  request: IncomingMessage;
  response: ServerResponse;
  /** Path segments after the name of the link. */
  args: readonly string[];
  /** The query with its question mark, or an empty string. */
  query: string;
  params: URLSearchParams;
}

/** Request handlers by the first path segment. Handlers throw a RangeError for invalid arguments. */
export const links: Record<string, (visit: Visit) => unknown> = {
  '': ({ response }) => respond(response, 200, listExamples('')),
  chain,
  loop: ({ request, response }) => redirect(response, 301, `${origin(request)}/loop`),
  status: ({ response, args }) => respond(response, Number(args[0]), `${args[0]}\n`),
  delay: ({ response, args }) => setTimeout(() => respond(response, 200, 'Done.\n'), Number(args[0])),
  hang() {},
  reset({ request }) {
    // A TLS socket cannot be reset, but the underlying socket can.
    const socket = request.socket as Socket & { _parent?: Socket };
    (socket._parent ?? socket).resetAndDestroy();
  },
  malformed: ({ request }) => request.socket.end('These bytes are not HTTP.\r\n\r\n'),
  headers({ response, args }) {
    response.setHeader('X-Filler', 'x'.repeat(Number(args[0])));
    respond(response, 200, '');
  },
  endless({ request, response }) {
    response.writeHead(200, { 'Content-Type': 'text/plain' });
    if (request.method === 'HEAD') return response.end();
    const fill = () => {
      while (!response.destroyed && response.write('and so on '.repeat(1_000)));
    };
    response.on('drain', fill);
    fill();
  },
  location({ request, params, query }) {
    // Take all text after `to=`, so that `&` in a URL need not be escaped. Send raw bytes, because Node validates headers.
    const to = query.replace(/^.*?[?&]to=/, '').replace(/%([0-9a-f]{2})/gi, (_, hex) => latin1(hex));
    const status = Number(params.get('status') ?? 302);
    const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nLocation: ${to}\r\nContent-Length: 0\r\n`;
    request.socket.end(`${head}Connection: close\r\n\r\n`, 'latin1');
  },
  close(visit) {
    visit.response.shouldKeepAlive = false;
    chain(visit);
    // On HTTP/2, send the response first, then GOAWAY.
    const { stream } = visit.response as ServerResponse & { stream?: ServerHttp2Stream };
    stream?.session?.close();
  },
};

/** Redirects `/<name>/<n>` to `/<name>/<n - 1>` with the same query. `/<name>/0` is the target. */
function chain({ request, response, args, query, params }: Visit): void {
  const remaining = Number(args[0]);
  if (!(remaining >= 0 && Number.isInteger(remaining)))
    throw new RangeError(`${args[0]} is not a number of redirects`);
  const cacheControl = params.get('cache-control');
  if (cacheControl) response.setHeader('Cache-Control', cacheControl);
  const end = () => {
    if (remaining === 0) return respond(response, 200, 'This is the target of the short URL.\n');
    const name = (request.url ?? '').split('/', 2)[1];
    redirect(
      response,
      Number(params.get('status') ?? 301),
      `${origin(request)}/${name}/${remaining - 1}${query}`,
    );
  };
  const delay = Number(params.get('delay') ?? 0);
  if (delay > 0) setTimeout(end, delay);
  else end();
}

const latin1 = (hex: string) => Buffer.from(hex, 'hex').toString('latin1');

function redirect(response: ServerResponse, status: number, location: string): void {
  response.setHeader('Location', location);
  respond(response, status, '');
}

/** Sends a response. Node sends the Content-Length but no body for HEAD. @throws RangeError if `status` is not final. */
export function respond(response: ServerResponse, status: number, body: string): void {
  if (!(status >= 200 && status <= 599)) throw new RangeError(`${status} is not a final status`);
  response.writeHead(status, { 'Content-Type': 'text/plain', 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

function origin(request: IncomingMessage): string {
  const host = request.headers.host ?? request.headers[':authority'];
  return `${'encrypted' in request.socket ? 'https' : 'http'}://${host}`;
}
