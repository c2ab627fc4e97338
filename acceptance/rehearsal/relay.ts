/**
 * Relays connections to a Redis server, with delays or faults. Takes a `Behaviour` and the server's `host` as JSON, and
 * prints `connected` for each connection. It runs in any container with Node.
 */
import { connect, createServer } from 'node:net';

export interface Behaviour {
  /** Milliseconds of delay for every reply. */
  delay?: number;
  /** The size of the pieces of a reply, in bytes. */
  slice?: number;
  /** The relay's own reply; without it, the relay forwards all bytes. */
  answer?: 'garbage' | 'reset';
}

const {
  host,
  delay = 0,
  slice = 0,
  answer,
}: Behaviour & { host: string } = JSON.parse(process.argv[2] ?? '');

const server = createServer((client) => {
  console.log('connected');
  client.on('error', () => {});
  if (answer === 'garbage') return client.on('data', () => client.write('\x00garbage\r\n'));
  if (answer === 'reset') return client.on('data', () => client.resetAndDestroy());
  const redis = connect(6379, host).on('error', () => {});
  client.pipe(redis);
  redis.on('data', (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; at += slice || bytes.length) {
      const piece = bytes.subarray(at, at + (slice || bytes.length));
      setTimeout(() => client.writable && client.write(piece), delay);
    }
  });
  client.on('close', () => redis.destroy());
  redis.on('close', () => client.destroy());
});
server.listen(6379);
