import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

/** `piece` is the number of bytes per write. By default, one write sends all bytes. */
type Response = { bytes: string; piece?: number };

/** Starts a website in a new thread, so that it does not use this thread's CPU time. `answer` sets the website's response. */
export async function startOrigin() {
  const worker = new Worker(new URL(import.meta.url));
  const [port] = await once(worker, 'message');
  return {
    url: `http://127.0.0.1:${port}`,
    async answer(response: Response): Promise<void> {
      worker.postMessage(response);
      await once(worker, 'message');
    },
    close: () => worker.terminate(),
  };
}

function serve(parent: NonNullable<typeof parentPort>): void {
  let response: Response = { bytes: '' };
  parent.on('message', (next: Response) => {
    response = next;
    parent.postMessage('ready');
  });
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', async () => {
      const { bytes, piece = bytes.length } = response;
      for (let sent = 0; sent < bytes.length && !socket.destroyed; sent += piece) {
        socket.write(bytes.slice(sent, sent + piece), 'latin1');
        if (piece < bytes.length) await setImmediate();
      }
      socket.end();
    });
  });
  server.listen(0, '127.0.0.1', () => parent.postMessage((server.address() as AddressInfo).port));
}

if (!isMainThread && parentPort) serve(parentPort);
