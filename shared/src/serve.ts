import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  STATUS_CODES,
} from 'node:http';
import { isIP, Server as NetServer, type Socket } from 'node:net';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import { type ListenAddress, type Listening, listen } from './listen.ts';
import { AnnotatedResponse, type Observer } from './observe.ts';

/** Answers requests: a Hono application, or a plain object. */
export interface Application {
  fetch(request: Request, env: HttpBindings): Response | Promise<Response>;
}

export type ServeOptions = ListenAddress & {
  /** Aborted, the server stops: see `serve`. */
  signal: AbortSignal;
  observer?: Observer;
  /** Headers of responses that the server sends without asking the application: to malformed HTTP, for one. */
  clientErrorHeaders?: Record<string, string>;
  /** Whether such a response is a problem document (RFC 9457), unless the client is known to want something else. */
  problems?: boolean;
};

export interface Serving extends Pick<Listening, 'port' | 'url'> {
  /** Resolves once the last connection is closed. */
  closed: Promise<void>;
}

/** Milliseconds an idle connection is kept: longer than the proxy's 5 s, so that the proxy closes it first. */
const keepAliveTimeout = 75_000;
/** Milliseconds until the headers of a request must have arrived. */
const headersTimeout = 15_000;
/** Milliseconds until a whole request must have arrived: a form on a slow line. */
const requestTimeout = 30_000;
/** Milliseconds between checks of these two; Node's 30 s would let a request take a minute. */
const connectionsCheckingInterval = 1_000;
/** Milliseconds after the stop until idle connections are closed: time for the proxy to see `Connection: close`. */
const idleGrace = 2_000;
/** Milliseconds after the stop until the server cuts every connection. */
const hardStop = 10_000;
/** Bytes of request line and headers: a URL of 8 KiB grows to 24 KiB when it is percent-encoded. */
const maxHeaderSize = 64 * 1024;

/**
 * Serves `app` over HTTP until `signal` is aborted, then drains: it stops listening at once, answers further requests
 * on open connections with `Connection: close`, closes idle connections after 2 s and all others after 10 s.
 *
 * On a loopback address, where only programs on this machine should reach it, requests under a name that public DNS may
 * have are answered 421: a website could have made its own name lead here (DNS rebinding). A malformed name is 400.
 *
 * @throws ListenError
 */
export async function serve(app: Application, options: ServeOptions): Promise<Serving> {
  const { signal, observer, clientErrorHeaders = {} } = options;
  const fetchListener = getRequestListener((request, env) => app.fetch(request, env as HttpBindings), {
    hostname: 'host' in options ? options.host : 'localhost',
    errorHandler: (error) => {
      const status = error instanceof RequestError ? 400 : 500;
      observer?.refused(status, error instanceof Error ? error.message : String(error));
      return new Response(`${status} ${STATUS_CODES[status]}`, { status, headers: clientErrorHeaders });
    },
  });
  const answer = (incoming: IncomingMessage, outgoing: AnnotatedResponse) => {
    const { host = '', accept } = incoming.headers;
    const isForeign = listening.loopback && host && !isLocalName(host);
    const status = !validHost.test(host) ? 400 : isForeign ? 421 : null;
    if (status === null) return fetchListener(incoming, outgoing);
    const { code, headers, body } = refusal(options, status, accept);
    outgoing.annotations.error = code;
    outgoing.writeHead(status, headers).end(body);
  };
  const listener = (incoming: IncomingMessage, outgoing: AnnotatedResponse) => {
    if (observer) observer.request(incoming, outgoing, () => answer(incoming, outgoing));
    else answer(incoming, outgoing);
  };
  const server = createServer(
    {
      ServerResponse: AnnotatedResponse,
      maxHeaderSize,
      keepAliveTimeout,
      headersTimeout,
      requestTimeout,
      connectionsCheckingInterval,
      // Node's own response to a missing Host would lack the service's headers; the listener refuses it instead.
      requireHostHeader: false,
    },
    listener as RequestListener<typeof IncomingMessage, typeof AnnotatedResponse>,
  );
  // RFC 9110 section 10.1.1 lets a server ignore any expectation but 100-continue.
  server.on('checkExpectation', listener);
  refuseClientErrors(server, options);

  const listening = await listen(server, options);
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  if (signal.aborted) drain(server);
  else signal.addEventListener('abort', () => drain(server), { once: true });
  return { port: listening.port, url: listening.url, closed };
}

function drain(server: Server): void {
  // http.Server's own close() cuts idle connections that the proxy is about to use; net.Server's does not.
  NetServer.prototype.close.call(server);
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

/** What the server refuses itself: the code, and the reason in a sentence. */
const reasons = {
  400: ['bad_request', 'The request is malformed.'],
  408: ['request_timeout', 'The request took too long to arrive.'],
  421: ['unknown_host', 'Use localhost or an address as the host name.'],
  431: ['headers_too_large', 'The headers of the request are too long.'],
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
 * Answers a malformed or oversized request with the service's own headers and closes the connection. As in Node, a
 * response that has begun is cut instead: a second one in the middle of it would be taken for its content.
 */
function refuseClientErrors(server: Server, options: ServeOptions): void {
  const statuses: Record<string, 408 | 431> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };
  server.on('clientError', (error: NodeJS.ErrnoException, socket: ServerSocket) => {
    if (!socket.writable || error.code === 'ECONNRESET') return socket.destroy();
    const status = statuses[error.code ?? ''] ?? 400;
    // A client that closes in the middle of a request has left: not an error.
    const left = error.code === 'HPE_INVALID_EOF_STATE';
    if (!left) options.observer?.refused(status, error.code ?? error.message);
    const response = socket._httpMessage;
    if (response && !left) response.annotations.refused = status;
    if (response?.headersSent) return socket.destroy();
    // Its Accept may be among what was not read.
    const { headers, body } = refusal(options, status, 'application/json');
    const all = Object.entries({ ...headers, Connection: 'close' });
    const lines = all.map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
    // Node no longer reads from the connection: a client that keeps it open would hold up the drain.
    socket.destroySoon();
  });
}

/** Node's name for the response that has a socket now: with pipelining, that of the first unanswered request. */
interface ServerSocket extends Socket {
  _httpMessage?: AnnotatedResponse | null;
}

/** Characters of names, addresses and ports. With others a URL of the Host and the path would have another path. */
const validHost = /^[\w.:[\]-]*$/;

/** Names that public DNS does not have: RFC 6761, RFC 6762, RFC 8375, ICANN's .internal, and single labels. */
const localName = /^[^.]+$|\.(localhost|local|internal|home\.arpa)$/;

/**
 * Whether the value of a Host header is an address or a name that public DNS does not have. Under any other name the
 * client may be a website whose name was made to lead here (DNS rebinding). The proxy applies the same rule to the
 * port of tasks.
 */
export function isLocalName(host: string): boolean {
  const name = host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
  return isIP(name) !== 0 || localName.test(name);
}
