import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { links, listExamples, respond } from './links.ts';

export type Shortener = Awaited<ReturnType<typeof startShortener>>;

/**
 * Starts a link shortener for tests, load tests, and offline trials of the expander. The path of a link determines the
 * response; see `examples`.
 *
 * @param options.port a free port by default.
 * @param options.tls a certificate for https.
 */
export async function startShortener(
  options: { port?: number; host?: string; tls?: { key: string; cert: string } } = {},
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
  const server = tls ? https.createServer(tls, handle) : http.createServer(handle);
  server.on('connection', () => {
    connections += 1;
  });
  await once(server.listen(port, host), 'listening');

  const { port: actualPort } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = once(server.close(), 'close');
    server.closeAllConnections();
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

if (import.meta.main) {
  const { values } = parseArgs({
    options: { port: { type: 'string', default: '9000' }, host: { type: 'string', default: '127.0.0.1' } },
  });
  const { url } = await startShortener({ port: Number(values.port), host: values.host });
  console.log(`The shortener runs at ${url}. Press Ctrl-C to stop it. Links to try:\n\n${listExamples(url)}`);
}
