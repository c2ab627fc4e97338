import { Socket } from 'node:net';

/** Milliseconds between two bytes; deploy/images/watched.sh misses one after 750. */
const interval = 500;

/** Writes a byte to the pipe `fd` at intervals, as a sign that the event loop runs. */
export function startHeartbeat(fd: number): void {
  const pipe = new Socket({ fd, readable: false, writable: true });
  // The reader has gone.
  pipe.on('error', () => clearInterval(timer));
  const beat = () => pipe.write('.');
  const timer = setInterval(beat, interval).unref();
  beat();
}
