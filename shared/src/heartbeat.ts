import { Socket } from 'node:net';

/** Milliseconds between two bytes; deploy/compose/watched.sh misses one after 750. */
const interval = 500;

/** Writes a byte to the pipe `fd` now and then, which tells who reads it that the event loop turns. */
export function startHeartbeat(fd: number): void {
  const pipe = new Socket({ fd, readable: false, writable: true });
  // Nobody reads it any more, and nobody has to.
  pipe.on('error', () => clearInterval(timer)).unref();
  const beat = () => {
    if (!pipe.writableNeedDrain) pipe.write('.');
  };
  const timer = setInterval(beat, interval).unref();
  beat();
}
