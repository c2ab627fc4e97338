import { writeSync } from 'node:fs';

/** Milliseconds a line waits for others: one write(2) per line would cost more than the response it reports. */
const longestWait = 100;
/** Characters kept while the reader stalls; further lines are dropped and counted. */
const capacity = 4 * 1024 * 1024;
/** Milliseconds until a reader that stalls is tried again: a pipe, which holds 64 KiB, then takes 32 MB a second. */
const retryDelay = 2;
/** Milliseconds the end of the process waits for a reader that stalls. */
const exitTimeout = 2_000;

/**
 * Writes lines to `fd` in batches. If the reader stalls, up to 4 MiB wait in memory and further lines are dropped; if it goes
 * away, the log ends and the process goes on.
 *
 * @param fd a descriptor that does not block.
 * @param onDropped is called with the number of lines that were dropped, once there is room again.
 * @returns takes a line.
 */
export function logWriter(fd: number, onDropped: (lines: number) => void): (line: string) => void {
  let waiting = '';
  /** The unwritten part of a batch, while the reader stalls. */
  let rest = Buffer.alloc(0);
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let readerGone = false;

  /** Writes until nothing is left, and returns true, or until the reader stalls: then it is called again later. */
  function flush(): boolean {
    clearTimeout(timer);
    timer = undefined;
    try {
      while (rest.length > 0 || waiting !== '') {
        if (rest.length === 0) {
          rest = Buffer.from(waiting);
          waiting = '';
        }
        rest = rest.subarray(writeSync(fd, rest));
      }
    } catch (error) {
      readerGone = (error as NodeJS.ErrnoException).code !== 'EAGAIN';
      if (!readerGone) timer = setTimeout(flush, retryDelay).unref();
      return readerGone;
    }
    if (dropped === 0) return true;
    const lines = dropped;
    dropped = 0;
    onDropped(lines);
    return flush();
  }

  process.on('exit', () => {
    const deadline = Date.now() + exitTimeout;
    while (!flush() && Date.now() < deadline) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryDelay);
    }
  });

  return (line) => {
    if (readerGone) return;
    if (waiting.length + rest.length > capacity) {
      dropped += 1;
      return;
    }
    waiting += line;
    timer ??= setTimeout(flush, longestWait).unref();
  };
}
