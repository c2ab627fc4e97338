import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { links, listExamples, respond } from './links.ts';

export type Shortener = Awaited<ReturnType<typeof startShortener>>;

/**
 * Starts a link shortener for tests, load tests, and offline trials of the expander. The path of a link determines the
 * response; see `examples`.
 *
 * @param options.port a free port by default.
 * @param options.tls a certificate for https.
 * @param options.http2 whether to offer HTTP/2, too. Links that need a raw connection, such as `/malformed`, need HTTP/1.1.
 */
export async function startShortener(
  options: { port?: number; host?: string; tls?: { key: string; cert: string }; http2?: boolean } = {},
) {
  const { port = 0, host = '127.0.0.1', tls } = options;
  const requests = new Map<string, number>();
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const target = request.url ?? '/';
    const [path = ''] = target.split('?', 1);
    const query = target.slice(path.length);
    const key = `${request.method} ${path}`;
    requests.set(key, (requests.get(key) ?? 0) + 1);
    const [, name = '', ...args] = path.split('/');
    const link = Object.hasOwn(links, name) ? links[name] : undefined;
    try {
      if (!link) throw new RangeError(`there is no link ${path}`);
      link({ request, response, args, query, params: new URLSearchParams(query) });
    } catch (error) {
      respond(response, 404, `${error}\n`);
    }
  };

  let connections = 0;
  const open = new Set<Socket>();
  const server = createServer(handle, options);
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  await once(server.listen(port, host), 'listening');

  const { port: actualPort } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of open) socket.destroy();
    await closed;
  };
  return {
    /** The base URL, without a trailing slash. */
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${actualPort}`,
    port: actualPort,
    /** Number of requests by method and path without the query, such as `HEAD /chain/2`. */
    requests,
    /** Number of connections so far. */
    get connections() {
      return connections;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

function createServer(
  handle: Handle,
  { tls, http2: offersHttp2 }: Parameters<typeof startShortener>[0] = {},
) {
  if (!tls) return http.createServer(handle);
  if (!offersHttp2) return https.createServer(tls, handle);
  // Node's requests and responses of HTTP/2 have the same methods.
  return http2.createSecureServer({ ...tls, allowHTTP1: true }, handle as never);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '9000' },
      host: { type: 'string', default: '127.0.0.1' },
      key: { type: 'string' },
      cert: { type: 'string' },
      http2: { type: 'boolean', default: false },
    },
  });
  const { key, cert } = values;
  const tls =
    key && cert ? { tls: { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') } } : {};
  const { url } = await startShortener({ ...values, port: Number(values.port), ...tls });
  console.log(`The shortener runs at ${url}. Press Ctrl-C to stop it. Links to try:\n\n${listExamples(url)}`);
}
