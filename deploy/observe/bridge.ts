import { readdirSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { basename, join } from 'node:path';
import { type Listening, listen } from '@longhand/shared/listen.ts';

/** The sockets of operations endpoints: `tasks-2-ops.sock`. */
const operationsSocket = /^(expander|tasks)(-\d+)?-ops\.sock$/;

/**
 * Lets Prometheus, which knows TCP alone, reach the operations endpoints of a native stack: `/targets` lists them as its
 * HTTP service discovery wants it, new replicas too, and `/metrics/<socket>` passes on what one of them answers.
 *
 * @param folder the folder of the stack.
 */
export async function startBridge(folder: string, port = 0): Promise<Listening & { close(): void }> {
  const sockets = join(folder, 'run');
  const server = createServer((incoming, outgoing) => {
    const { pathname } = new URL(incoming.url ?? '/', 'http://localhost');
    const socket = basename(pathname);
    if (pathname === '/targets') {
      outgoing.setHeader('Content-Type', 'application/json');
      outgoing.end(JSON.stringify(targets(sockets, `127.0.0.1:${listening.port}`)));
    } else if (operationsSocket.test(socket)) {
      request({ socketPath: join(sockets, socket), path: '/metrics', agent: false }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, { 'Content-Type': answer.headers['content-type'] });
        answer.pipe(outgoing);
      })
        .on('error', () => outgoing.writeHead(502).end())
        .end();
    } else {
      outgoing.writeHead(404).end();
    }
  });
  const listening = await listen(server, { host: '127.0.0.1', port });
  return { ...listening, close: () => server.close() };
}

function targets(folder: string, address: string) {
  return readdirSync(folder).flatMap((socket) => {
    const [, service = '', replica = ''] = operationsSocket.exec(socket) ?? [];
    const labels = {
      job: service,
      instance: service + replica,
      __metrics_path__: `/metrics/${socket}`,
    };
    return service === '' ? [] : [{ targets: [address], labels }];
  });
}
