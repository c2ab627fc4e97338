import { once } from 'node:events';
import { get } from 'node:http';
import { createConnection } from 'node:net';

/** Milliseconds a process may take to answer. */
const timeouts = { ping: 3_000, livez: 750 };

/** Asks a process whether it can do its work. */
export type Probe = () => Promise<boolean>;

/** Whether Redis answers PING on the Unix socket at `path`; while it loads its data, it does not. */
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

/** Whether a service answers `/livez` on the Unix socket of its operations endpoints. */
export const answersLivez =
  (socketPath: string): Probe =>
  () =>
    new Promise((resolve) => {
      get(
        { socketPath, path: '/livez', agent: false, signal: AbortSignal.timeout(timeouts.livez) },
        (response) => resolve(response.resume().statusCode === 200),
      ).on('error', () => resolve(false));
    });
