import { once } from 'node:events';
import http from 'node:http';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

/** A request. `{n}` in the path becomes a new number for each request. */
export interface AttackRequest {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Requests at a time. */
const concurrency = 30;

/** Milliseconds until the attacker abandons a request. */
const patience = 5_000;

/** Starts an attacker in a new thread, so that it does not use this thread's CPU time. */
export async function startAttacker() {
  const worker = new Worker(new URL(import.meta.url));
  await once(worker, 'message');
  return {
    /** Sends this request to the service at `url`, 30 at a time, until `over` aborts. Calls `begun` after some responses. */
    async attack(url: string, request: AttackRequest, over: AbortSignal, begun: () => void): Promise<void> {
      worker.postMessage({ url, request });
      worker.once('message', begun);
      if (!over.aborted) await once(over, 'abort');
      worker.postMessage(null);
      for (let message = ''; message !== 'over'; ) [message] = await once(worker, 'message');
    },
    close: () => worker.terminate(),
  };
}

/** Sends a request and reads the response, or the first event of an endless stream. @returns the status; 0 if the request fails or takes too long. */
export function sendOne(
  url: string,
  { method, path, headers = {}, body = '' }: AttackRequest,
  agent?: http.Agent,
): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  sent += 1;
  const bytes = Buffer.from(body);
  const length = bytes.length > 0 ? { 'Content-Length': bytes.length } : {};
  const { hostname, port } = new URL(url);
  const request = http
    .request({
      ...{ hostname, port, method, path: path.replaceAll('{n}', `${sent}`), agent },
      headers: { ...length, ...headers },
      signal: AbortSignal.timeout(patience),
    })
    .on('response', (response) => {
      const isEndless = response.headers['content-type'] === 'text/event-stream';
      response.on('close', () => resolve(response.statusCode ?? 0)).on('error', () => {});
      response.on('data', () => {
        if (isEndless) response.destroy();
      });
      response.on('end', () => {
        // The server does not want the rest, so the next request is worse for it.
        if (!request.writableFinished) request.destroy();
      });
    })
    .on('error', () => resolve(0));
  request.end(bytes);
  return promise;
}

/** Number of the last request. Another thread starts elsewhere, so that no URL is in a cache. */
let sent = Math.floor(Math.random() * 1e9) * 1_000;

type Orders = { url: string; request: AttackRequest } | null;

function serve(parent: NonNullable<typeof parentPort>): void {
  let end = () => {};
  parent.on('message', (orders: Orders) => {
    end();
    if (!orders) return;
    let responses = 0;
    let isOver = false;
    const agent = new http.Agent({ keepAlive: true });
    const repeat = async () => {
      while (!isOver) {
        await sendOne(orders.url, orders.request, agent);
        responses += 1;
        if (responses === concurrency) parent.postMessage('begun');
      }
    };
    const clients = Promise.all(Array.from({ length: concurrency }, repeat));
    const started = setTimeout(() => parent.postMessage('begun'), patience / 5);
    end = () => {
      isOver = true;
      end = () => {};
      clearTimeout(started);
      agent.destroy();
      clients.then(() => parent.postMessage('over'));
    };
  });
  parent.postMessage('ready');
}

if (!isMainThread && parentPort) serve(parentPort);
