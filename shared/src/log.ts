import { writeSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { escapeControls } from './control-characters.ts';
import type { ServiceConfig } from './env.ts';
import { loggedError } from './logged-error.ts';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;

export const serializers = { err: loggedError };

/**
 * Creates a log that writes JSON lines to standard output. Each line has an ISO 8601 time, the level and the service. See
 * `logWriter` for slow readers.
 */
export function createLog(service: string, level: ServiceConfig['LOG_LEVEL']): Logger {
  // If stdout is a pipe, accessing process.stdout makes it non-blocking.
  const write = logWriter(process.stdout.fd, (dropped) =>
    log.warn({ dropped }, 'log lines were dropped because the log reader is too slow'),
  );
  const log = pino(
    {
      level,
      serializers,
      base: { service },
      timestamp: createTimestamp(),
      formatters: { level: (label) => ({ level: label }) },
      // C1 and bidi controls affect terminals, but JSON does not escape them.
      hooks: { streamWrite: (line) => `${escapeControls(line.slice(0, -1))}\n` },
    },
    { write },
  );
  return log;
}

/**
 * Creates a function that returns the field `time` of a line (ISO 8601). Formats each second only once, because formatting a date
 * takes 3% of the CPU time of a cached expansion.
 */
function createTimestamp(): () => string {
  let second = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    if (Math.floor(now / 1_000) !== second) {
      second = Math.floor(now / 1_000);
      text = new Date(now).toISOString().slice(0, -'000Z'.length);
    }
    return `,"time":"${text}${`${now % 1_000}`.padStart(3, '0')}Z"`;
  };
}

/** Milliseconds between batches. A write(2) per line would take more CPU time than the logged response. */
const batchDelay = 100;
/** Maximum characters kept in memory while the reader stalls. */
const capacity = 4 * 1024 * 1024;
/** Milliseconds between write attempts while the reader stalls. A pipe holds 64 KiB, so this allows 32 MB a second. */
const retryDelay = 2;
/** Maximum milliseconds that an exiting process waits for a stalled reader. */
const exitTimeout = 2_000;

/**
 * Writes lines in batches to `fd`, a non-blocking descriptor. Keeps up to 4 MiB while the reader stalls, and drops further lines.
 * Stops writing if the reader closes the pipe.
 *
 * @param onDropped receives the number of dropped lines once the reader resumes
 */
function logWriter(fd: number, onDropped: (lines: number) => void): (line: string) => void {
  let waiting = '';
  /** Unwritten part of a batch. */
  let rest = Buffer.alloc(0);
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let readerGone = false;

  /** Returns false and schedules another attempt if the reader stalls. */
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
    timer ??= setTimeout(flush, batchDelay).unref();
  };
}
