import { once } from 'node:events';
import { get, type RequestOptions } from 'node:http';
import { createConnection } from 'node:net';

/** Milliseconds a process may take to answer. */
const timeouts = { ping: 3_000, get: 750 };

/** Whether a process is ready. */
export type Probe = () => Promise<boolean>;

/** Whether Redis answers PING on the Unix socket at `path`, and so has loaded its data. */
export const answersPing =
  (path: string): Probe =>
  async () => {
    const socket = createConnection(path);
    try {
      await once(socket, 'connect');
      socket.write('PING\r\n');
      const [reply] = await once(socket, 'data', { signal: AbortSignal.timeout(timeouts.ping) });
      return `${reply}`.startsWith('+PONG');
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  };

/** Whether a server answers a GET request with 200. */
export const answersGet =
  (request: Pick<RequestOptions, 'socketPath' | 'port' | 'path'>): Probe =>
  () =>
    new Promise((resolve) => {
      const signal = AbortSignal.timeout(timeouts.get);
      get({ host: '127.0.0.1', ...request, agent: false, signal }, (response) =>
        resolve(response.resume().statusCode === 200),
      ).on('error', () => resolve(false));
    });
