/**
 * A relay before a Redis that is slow or broken. As a program it takes `{port, to, behaviour}` as JSON. It imports
 * nothing of this project, so that it runs in any container with Node.
 */
import { connect, createServer, type Socket } from 'node:net';

export interface Behaviour {
  /** Milliseconds by which every answer is late. */
  delay?: number;
  /** Answers arrive in pieces of so many bytes. */
  slice?: number;
  /** What becomes of a request: it is answered with noise, or the connection is reset. */
  answer?: 'garbage' | 'reset';
}

/** Listens on `port` and passes everything on to `to`. Resolves once it listens; the function it returns ends it. */
export async function startRelay(
  port: number,
  to: { host?: string; port: number },
  { delay = 0, slice = 0, answer }: Behaviour,
): Promise<() => Promise<void>> {
  const sockets = new Set<Socket>();
  const kept = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((client) => {
    kept(client);
    // The rehearsal reads from it that the relay was used.
    if (import.meta.main) console.log('connected');
    if (answer) {
      client.on('data', () => {
        if (answer === 'garbage') client.write('\x00these bytes are no answer\r\n');
        else client.resetAndDestroy();
      });
      return;
    }
    const redis = kept(connect(to));
    client.pipe(redis);
    redis.on('data', (bytes: Buffer) => {
      for (let at = 0; at < bytes.length; at += slice || bytes.length) {
        const piece = bytes.subarray(at, at + (slice || bytes.length));
        setTimeout(() => client.writable && client.write(piece), delay);
      }
    });
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const)
      one.on('close', () => other.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, resolve);
  });
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
}

if (import.meta.main) {
  const { port, to, behaviour } = JSON.parse(process.argv[2] ?? '');
  await startRelay(port, to, behaviour);
}
