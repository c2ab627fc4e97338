import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { escapeControls } from './control-characters.ts';

/** What a module needs of the log. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** One write(2) per line costs more than the response that the line reports, so lines wait for each other. */
const buffering = {
  /** Bytes that start a write. */
  minLength: 4_096,
  /** Milliseconds a line waits at most. */
  periodicFlush: 100,
  /** Bytes kept while the reader stalls; further lines are dropped and counted. */
  maxLength: 4 * 1024 * 1024,
};

/** Milliseconds the end of the process waits for a reader that stalls. */
const closeTimeout = 2_000;

/**
 * Creates a log of JSON lines on standard output, each with an ISO 8601 time, the level by name and the service.
 *
 * Writing never blocks the process: a reader that stalls costs at most 4 MiB of memory and then lines, which a later
 * line counts (`dropped`); a reader that goes away ends the log but not the process.
 */
export function createLog(service: string, level: (typeof logLevels)[number]) {
  // Reading process.stdout makes the descriptor non-blocking: a full pipe then occupies no thread.
  const destination = pino.destination({ dest: process.stdout.fd, sync: false, ...buffering });
  destination.flushSync = () => writeRest(destination);
  const log = pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // JSON leaves C1 and bidi controls as they are, and a terminal that shows the line would obey them.
      hooks: { streamWrite: (line) => `${escapeControls(line.slice(0, -1))}\n` },
    },
    destination,
  );

  let dropped = 0;
  destination.on('drop', () => {
    dropped += 1;
  });
  destination.on('drain', () => {
    if (dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    log.warn({ dropped: lines }, 'log lines were dropped because their reader is too slow');
  });

  const flush = () => new Promise((resolve) => destination.flush(resolve));
  /** Writes what is left, for at most 2 s, and ends the log. Call it before `process.exit()`. */
  const close = async () => {
    // Once more for the line about lines that were dropped.
    await Promise.race([flush().then(flush), sleep(closeTimeout, undefined, { ref: false })]);
    destination.destroy();
  };
  return Object.assign(log, { close });
}

/**
 * Writes what is left when the process exits without `close`. sonic-boom's own flushSync, which pino calls then,
 * never returns when the reader stalls or has gone.
 */
function writeRest(destination: ReturnType<typeof pino.destination>): void {
  const { _bufs: lines, fd } = destination as unknown as { _bufs: string[]; fd: number };
  const deadline = Date.now() + closeTimeout;
  let rest = Buffer.from(lines.splice(0).join(''));
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || Date.now() > deadline) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
