import { get, type RequestOptions } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/** Milliseconds a process may take to answer. */
const timeouts = { ping: 3_000, get: 750 };

/** Whether a process is ready. */
export type Probe = () => Promise<boolean>;

/** Whether Redis answers PING on the Unix socket at `path`, and so has loaded its data. */
export const answersPing =
  (path: string): Probe =>
  async () => {
    const socket = connect(path).end('PING\r\nQUIT\r\n');
    socket.setTimeout(timeouts.ping, () => socket.destroy());
    const replies = await text(socket).catch(() => '');
    return replies.startsWith('+PONG');
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
