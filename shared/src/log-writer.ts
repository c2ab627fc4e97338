import { write, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Characters that start a write: one write(2) per line would cost more than the response it reports. */
const batch = 64 * 1_024;
/** Milliseconds a line waits for others. */
const longestWait = 100;
/** Characters kept while the reader stalls; further lines are dropped and counted. */
const capacity = 4 * 1024 * 1024;
/** Milliseconds until a reader that stalls is tried again. */
const retryDelay = 10;
/** Milliseconds the end of the process waits for a reader that stalls. */
const closeTimeout = 2_000;

const writeSome = promisify(write);
const stalls = (error: unknown) => (error as NodeJS.ErrnoException).code === 'EAGAIN';

/**
 * Writes lines to `fd` in batches and never blocks the process. If the reader stalls, up to 4 MiB wait in memory and further
 * lines are dropped; if it goes away, the log ends and the process goes on.
 *
 * @param onDropped is called with the number of lines that were dropped, once there is room again.
 */
export function createLogWriter(fd: number, onDropped: (lines: number) => void) {
  let waiting = '';
  /** The unwritten part of a batch. */
  let rest = Buffer.alloc(0);
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let ended = false;

  async function writeWaiting(): Promise<void> {
    while (waiting !== '' && !ended) {
      rest = Buffer.from(waiting);
      waiting = '';
      while (rest.length > 0) {
        try {
          rest = rest.subarray((await writeSome(fd, rest)).bytesWritten);
        } catch (error) {
          if (!stalls(error)) return end();
          await sleep(retryDelay, undefined, { ref: false });
        }
      }
      const lines = dropped;
      dropped = 0;
      if (lines > 0) onDropped(lines);
    }
    writing = undefined;
  }
  function start(): void {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeWaiting();
  }
  function end(): void {
    ended = true;
    waiting = '';
  }
  /** Writes what is left when the process exits without `close`. */
  function flushSync(): void {
    const deadline = Date.now() + closeTimeout;
    for (let last = Buffer.from(waiting); last.length > 0; ) {
      try {
        last = last.subarray(writeSync(fd, last));
      } catch (error) {
        if (!stalls(error) || Date.now() > deadline) break;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryDelay);
      }
    }
    waiting = '';
  }
  process.on('exit', flushSync);

  return {
    write(line: string): void {
      if (ended) return;
      if (waiting.length + rest.length > capacity) {
        dropped += 1;
        return;
      }
      waiting += line;
      if (writing) return;
      if (waiting.length >= batch) start();
      else timer ??= setTimeout(start, longestWait).unref();
    },
    async close(): Promise<void> {
      start();
      await Promise.race([writing, sleep(closeTimeout)]);
      end();
    },
  };
}
