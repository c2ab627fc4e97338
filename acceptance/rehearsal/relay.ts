/**
 * Relays connections to a Redis server, with delays or faults. Reads a `Behaviour` and the server's `host` from its JSON
 * argument. Prints `connected` for each connection. Uses no packages, so it runs in any container with Node.
 */
import { connect, createServer } from 'node:net';

export interface Behaviour {
  /** Delay of each reply (ms). */
  delay?: number;
  /** Maximum chunk size of a reply (bytes). */
  slice?: number;
  /** Fault to inject instead of a reply. */
  fault?: 'garbage' | 'reset';
}

const { host, delay = 0, slice = 0, fault }: Behaviour & { host: string } = JSON.parse(process.argv[2] ?? '');

const server = createServer((client) => {
  console.log('connected');
  client.on('error', () => {});
  if (fault === 'garbage') return client.on('data', () => client.write('\x00garbage\r\n'));
  if (fault === 'reset') return client.on('data', () => client.resetAndDestroy());
  const redis = connect(6379, host).on('error', () => {});
  client.pipe(redis);
  redis.on('data', (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; at += slice || bytes.length) {
      const chunk = bytes.subarray(at, at + (slice || bytes.length));
      setTimeout(() => client.writable && client.write(chunk), delay);
    }
  });
  client.on('close', () => redis.destroy());
  redis.on('close', () => client.destroy());
});
server.listen(6379);
