/**
 * Relays connections to a Redis, with delays or faults. Takes `Behaviour` and the `host` of that Redis as JSON,
 * and prints `connected` for each connection. It imports nothing of this project, so it runs in any container with Node.
 */
import { connect, createServer } from 'node:net';

export interface Behaviour {
  /** Milliseconds of delay for every reply. */
  delay?: number;
  /** Splits replies into pieces of this many bytes. */
  slice?: number;
  /** Replies with noise, or resets the connection. */
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
  if (answer) {
    client.on('data', () => {
      if (answer === 'garbage') client.write('\x00these bytes are no answer\r\n');
      else client.resetAndDestroy();
    });
    return;
  }
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
