import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Paths and their responses. */
const examples: readonly (readonly [path: string, meaning: string])[] = [
  ['/chain/2', 'two redirects, then 200'],
  ['/chain/3?id=mine', 'a separate chain for every id, so that no cache has it'],
  ['/chain/3?status=308&delay=200', 'another status (301 by default), 200 ms for each hop'],
  ['/chain/3?cache-control=max-age%3D60', 'with this Cache-Control on every hop'],
  ['/loop', 'redirects to itself'],
  ['/status/503', 'any status'],
  ['/delay/500', '200 after 500 ms'],
  ['/hang', 'never responds'],
  ['/reset', 'resets the connection'],
  ['/malformed', 'a response that is not HTTP'],
  ['/headers/20000', '200 with a header of this many bytes'],
  ['/endless', '200; for GET, a body that never ends'],
  ['/location?to=http://example.com/é', '302 (or status=301) with these bytes, percent-decoded, as Location'],
  ['/close/2', 'a chain that closes the connection after every response'],
];

export const listExamples = (url: string) =>
  examples.map(([path, meaning]) => `${`${url}${path}`.padEnd(56 + url.length / 2)}  ${meaning}\n`).join('');

interface Visit {
  request: IncomingMessage;
  response: ServerResponse;
  /** The path segments after the link's name. */
  args: readonly string[];
  /** With its question mark; may be empty. */
  query: string;
  params: URLSearchParams;
}

/** The links by the first segment of their path. They throw a RangeError for invalid arguments. */
export const links: Record<string, (visit: Visit) => unknown> = {
  '': ({ response }) => respond(response, 200, listExamples('')),
  chain,
  loop: ({ request, response }) => redirect(response, 301, `${origin(request)}/loop`),
  status: ({ response, args }) => respond(response, Number(args[0]), `${args[0]}\n`),
  delay: ({ response, args }) => setTimeout(() => respond(response, 200, 'Done.\n'), Number(args[0])),
  hang() {},
  reset({ request }) {
    // Over TLS, only the underlying socket can be reset.
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
    // Everything after `to=`, so that a URL with `&` needs no escaping. Sent as raw bytes, because Node validates headers.
    const to = query.replace(/^.*?[?&]to=/, '').replace(/%([0-9a-f]{2})/gi, (_, hex) => latin1(hex));
    const status = Number(params.get('status') ?? 302);
    const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nLocation: ${to}\r\nContent-Length: 0\r\n`;
    request.socket.end(`${head}Connection: close\r\n\r\n`, 'latin1');
  },
  close(visit) {
    visit.response.shouldKeepAlive = false;
    chain(visit);
  },
};

/** `/<name>/<n>` redirects to `/<name>/<n - 1>` with the same query; `/<name>/0` is the target. */
function chain({ request, response, args, query, params }: Visit): void {
  const left = Number(args[0]);
  if (!(left >= 0 && Number.isInteger(left))) throw new RangeError(`${args[0]} is not a number of redirects`);
  const cacheControl = params.get('cache-control');
  if (cacheControl) response.setHeader('Cache-Control', cacheControl);
  const end = () => {
    if (left === 0) return respond(response, 200, 'This is where the short URL leads.\n');
    const name = (request.url ?? '').split('/', 2)[1];
    redirect(response, Number(params.get('status') ?? 301), `${origin(request)}/${name}/${left - 1}${query}`);
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

/** Node omits the body for HEAD, but not its length. @throws RangeError for a status that is not final. */
export function respond(response: ServerResponse, status: number, body: string): void {
  if (!(status >= 200 && status <= 599)) throw new RangeError(`${status} is not a final status`);
  response.writeHead(status, { 'Content-Type': 'text/plain', 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

function origin(request: IncomingMessage): string {
  return `${'encrypted' in request.socket ? 'https' : 'http'}://${request.headers.host}`;
}
