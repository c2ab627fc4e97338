import http from 'node:http';
import type { Load } from './load.ts';

/**
 * Reads `path(i)` through the proxy on `port` without a pause, on `connections` keep-alive connections.
 *
 * @param expected the status of each response.
 */
export function startReads(
  port: number,
  path: (i: number) => string,
  connections: number,
  expected = 200,
): Load {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const failures: string[] = [];
  let requests = 0;
  let running = true;
  let notify = () => {};

  const read = (i: number) =>
    new Promise<string>((resolve) => {
      http
        .get({ agent, host: '127.0.0.1', port, path: path(i) })
        .on('response', (response) => response.resume().on('end', () => resolve(`${response.statusCode}`)))
        .on('error', (error) => resolve(error.message));
    });
  const worker = async () => {
    while (running) {
      const result = await read(requests);
      requests += 1;
      if (result !== `${expected}`) failures.push(result);
      notify();
    }
  };
  const workers = Array.from({ length: connections }, worker);
  return {
    async answered(count) {
      const goal = requests + count;
      await new Promise<void>((resolve) => {
        notify = () => requests >= goal && resolve();
      });
    },
    async stop() {
      running = false;
      await Promise.all(workers);
      agent.destroy();
      return { requests, failures };
    },
  };
}
