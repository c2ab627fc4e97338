import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  STATUS_CODES,
} from 'node:http';
import { isIP, Server as NetServer, type Socket } from 'node:net';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import { EarlyResponse } from './early-response.ts';
import { type ListenAddress, type Listening, listen } from './listen.ts';
import { isLocalName } from './local-name.ts';
import type { Observer } from './observe.ts';

export interface Application {
  fetch(request: Request, env: HttpBindings): Response | Promise<Response>;
}

export type ServeOptions = ListenAddress & {
  signal: AbortSignal;
  observer?: Observer;
  /** Headers of the server's own responses, such as those to malformed requests. */
  clientErrorHeaders?: Record<string, string>;
  /** Whether clients that accept JSON receive these errors as problem documents (RFC 9457). */
  problems?: boolean;
};

export interface Serving extends Pick<Listening, 'port' | 'url'> {
  /** Resolves once the last connection is closed. */
  closed: Promise<void>;
}

const serverOptions = {
  ServerResponse: EarlyResponse,
  /** Milliseconds until the server closes an idle connection. The proxy closes it first, after 1 s. */
  keepAliveTimeout: 75_000,
  /** Maximum milliseconds for the headers of a request. */
  headersTimeout: 15_000,
  /** Maximum milliseconds for a whole request, such as a form over a slow connection. */
  requestTimeout: 30_000,
  /** How often Node checks these timeouts (ms). Node's default of 30 s would allow a request to take a minute. */
  connectionsCheckingInterval: 1_000,
  /** Maximum bytes of the request line plus headers. Percent-encoding can expand an 8 KiB URL to 24 KiB. */
  maxHeaderSize: 64 * 1024,
  /** Node's own response to a missing Host would lack `clientErrorHeaders`. */
  requireHostHeader: false,
};

/** Milliseconds before a draining server closes idle connections. The proxy closes its idle connections sooner. */
const idleGrace = 2_000;
/** Milliseconds before a draining server closes all other connections. */
const hardStop = 10_000;

/**
 * Serves `app` over HTTP until `signal` is aborted, and then drains. A draining server does not listen, and responds on open
 * connections with `Connection: close`. It closes idle connections after 2 s, and all other connections after 10 s.
 *
 * On a loopback address, the server returns 421 for host names that could be in public DNS. Otherwise a website could resolve its
 * own name to that address (DNS rebinding). The server returns 400 for a malformed host name.
 *
 * @throws ListenError
 */
export async function serve(app: Application, options: ServeOptions): Promise<Serving> {
  const { signal, observer, clientErrorHeaders = {} } = options;
  const fetchListener = getRequestListener((request, env) => app.fetch(request, env as HttpBindings), {
    hostname: 'host' in options ? options.host : 'localhost',
    // It would read the bodies that no handler has read.
    autoCleanupIncoming: false,
    errorHandler: (error) => {
      const status = error instanceof RequestError ? 400 : 500;
      observer?.refused(status, error instanceof Error ? error.message : String(error));
      return new Response(`${status} ${STATUS_CODES[status]}`, { status, headers: clientErrorHeaders });
    },
  });
  const listener = (incoming: IncomingMessage, outgoing: EarlyResponse) => {
    observer?.request(incoming, outgoing);
    const { host = '', accept } = incoming.headers;
    const status = hostRefusal(host, listening.loopback);
    if (status === null) return fetchListener(incoming, outgoing);
    const { code, headers, body } = refusal(options, status, accept);
    outgoing.annotations.error = code;
    outgoing.writeHead(status, headers).end(body);
  };
  type Listener = RequestListener<typeof IncomingMessage, typeof EarlyResponse>;
  const server = createServer(serverOptions, listener as Listener);
  // A server may ignore every expectation except 100-continue (RFC 9110 section 10.1.1).
  server.on('checkExpectation', listener);
  refuseClientErrors(server, options);

  const listening = await listen(server, options);
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  if (signal.aborted) drain(server);
  else signal.addEventListener('abort', () => drain(server), { once: true });
  return { port: listening.port, url: listening.url, closed };
}

function drain(server: Server): void {
  // Let Node accept waiting connections first, because closing the server would reset them. http.Server's own close() would also
  // cut idle connections that the proxy is about to use.
  setImmediate(() => setImmediate(() => NetServer.prototype.close.call(server)));
  server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false;
  });
  const timers: NodeJS.Timeout[] = [
    setTimeout(() => {
      server.closeIdleConnections();
      timers.push(setInterval(() => server.closeIdleConnections(), 100));
    }, idleGrace),
    setTimeout(() => server.closeAllConnections(), hardStop),
  ];
  server.once('close', () => timers.forEach(clearTimeout));
}

/** Error codes and messages of the server's own responses, by status. */
const reasons = {
  400: ['bad_request', 'The request is malformed.'],
  408: ['request_timeout', 'The request took too long to arrive.'],
  421: ['unknown_host', 'Use localhost or an IP address as the host name.'],
  431: ['headers_too_large', 'The request headers are too large.'],
} as const;

function refusal({ clientErrorHeaders, problems }: ServeOptions, status: keyof typeof reasons, accept = '') {
  const [code, detail] = reasons[status];
  const title = STATUS_CODES[status];
  const problem = problems && /[/+]json\b/i.test(accept) && !/text\/html/i.test(accept);
  const body = problem
    ? JSON.stringify({ type: 'about:blank', title, status, detail, code })
    : `${status} ${title}: ${detail}`;
  const type = problem ? { 'Content-Type': 'application/problem+json' } : {};
  return { code, headers: { ...clientErrorHeaders, ...type, 'Content-Length': body.length }, body };
}

/**
 * Responds to a malformed or oversized request with `clientErrorHeaders`, and closes the connection. Does not respond if a response
 * has begun, because the client would read the second response as part of the first.
 */
function refuseClientErrors(server: Server, options: ServeOptions): void {
  const statuses: Record<string, 408 | 431> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };
  server.on('clientError', (error: NodeJS.ErrnoException, socket: ServerSocket) => {
    if (!socket.writable || error.code === 'ECONNRESET') return socket.destroy();
    const status = statuses[error.code ?? ''] ?? 400;
    // A client that disconnects during a request is not an error.
    const hasDisconnected = error.code === 'HPE_INVALID_EOF_STATE';
    if (!hasDisconnected) options.observer?.refused(status, error.code ?? error.message);
    const response = socket._httpMessage;
    if (response && !hasDisconnected) response.annotations.refused = status;
    if (response?.headersSent) return socket.destroy();
    // Node may not have parsed the Accept header.
    const { headers, body } = refusal(options, status, 'application/json');
    const all = Object.entries({ ...headers, Connection: 'close' });
    const lines = all.map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
    // Destroy the socket, because a client that keeps it open would delay the drain.
    socket.destroySoon();
  });
}

/**
 * `_httpMessage` is Node's property for the current response. If requests are pipelined, this is the response to the oldest
 * pending request.
 */
interface ServerSocket extends Socket {
  _httpMessage?: EarlyResponse | null;
}

/** Returns the status that refuses requests for `host`, or null. @param loopback whether the server listens on a loopback address. */
function hostRefusal(host: string, loopback: boolean): 400 | 421 | null {
  if (!validHost.test(host)) return 400;
  return loopback && host !== '' && !isLocalHost(host) ? 421 : null;
}

/** Characters allowed in a Host header. Other characters could change the path of the request's URL. */
const validHost = /^[\w.:[\]-]*$/;

/** Checks whether a Host header contains an address or a name that is never in public DNS. The proxy applies this rule to tasks. */
export function isLocalHost(host: string): boolean {
  const name = host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
  return isIP(name) !== 0 || isLocalName(name);
}
