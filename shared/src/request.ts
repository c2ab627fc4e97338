import http from 'node:http';
import https from 'node:https';

/** Methods that may be sent twice with the effect of once (RFC 9110 section 9.2.2). */
const idempotent = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

export type RequestOptions = Pick<
  https.RequestOptions,
  'signal' | 'method' | 'headers' | 'agent' | 'maxHeaderSize'
>;

/**
 * Sends one request without a body and resolves with the response, headers read and body not.
 *
 * An idempotent request that fails on a reused socket before any answer is sent once more on a new one:
 * the server had closed the connection while it was idle, which says nothing about the request
 * (RFC 9112 section 9.3.1). The caller consumes or destroys the response. Credentials in `url` are not sent.
 *
 * @throws the error of the connection, or an AbortError with the reason of `options.signal` as its cause.
 */
export async function request(url: URL, options: RequestOptions): Promise<http.IncomingMessage> {
  try {
    return await send(url, options);
  } catch (error) {
    if (!(error instanceof StaleSocket)) throw error;
    if (!idempotent.has(options.method ?? 'GET')) throw error.cause;
    closeIdleSockets(url, options);
    return send(url, options).catch((again) => {
      throw again instanceof StaleSocket ? again.cause : again;
    });
  }
}

/** A reused socket that the server had closed. */
class StaleSocket extends Error {}

function send(url: URL, options: RequestOptions): Promise<http.IncomingMessage> {
  const { signal, method, headers, agent, maxHeaderSize } = options;
  if (signal?.aborted) return Promise.reject(aborted(signal));
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  // A URL object would be taken apart by Node at the cost of the rest of the request.
  const sent = (url.protocol === 'https:' ? https : http).request({
    hostname: hostname(url),
    port: url.port,
    path: url.pathname + url.search,
    method,
    headers,
    agent,
    maxHeaderSize,
  });
  // Node's own `signal` option watches the whole life of the request, which costs more than the request.
  const abort = () => sent.destroy(aborted(signal));
  let answered = false;
  signal?.addEventListener('abort', abort);
  sent.on('response', (response) => {
    answered = true;
    signal?.removeEventListener('abort', abort);
    resolve(response);
  });
  sent.on('error', (error: NodeJS.ErrnoException) => {
    const stale = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
    reject(stale ? new StaleSocket('the server had closed the idle connection', { cause: error }) : error);
  });
  // A 101 that nobody asked for ends the request with neither a response nor an error, but always with this.
  sent.on('close', () => {
    if (answered) return;
    signal?.removeEventListener('abort', abort);
    reject(new Error('the connection ended without an answer'));
  });
  sent.end();
  return promise;
}

/** The host as an address or a name: an IPv6 address without its brackets. */
function hostname(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

function aborted(signal: AbortSignal | undefined): Error {
  return Object.assign(new Error('the request was aborted', { cause: signal?.reason }), {
    name: 'AbortError',
  });
}

/** A server that closed one idle connection has most likely closed the others: none of them is tried. */
function closeIdleSockets(url: URL, options: RequestOptions): void {
  if (!(options.agent instanceof http.Agent)) return;
  // An agent names its sockets "host:port:…", an IPv6 host without its brackets.
  const port = url.port || (url.protocol === 'https:' ? 443 : 80);
  const origin = `${hostname(url)}:${port}:`;
  for (const [name, sockets] of Object.entries(options.agent.freeSockets)) {
    if (!name.startsWith(origin)) continue;
    for (const socket of [...(sockets ?? [])]) socket.destroy();
  }
}
