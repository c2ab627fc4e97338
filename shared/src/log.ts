import { type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Characters of lines that are written at once: a system call for each would cost more than the answer it tells of. */
const enough = 4_096;
/** Milliseconds that a line waits for others at the most. */
const longest = 100;

/**
 * A log of JSON lines on standard output, each with an ISO 8601 time, the level by name and the service.
 * What is not written yet is when the process exits, whether by itself or by an error. A reader that goes
 * away ends the log and not the service.
 */
export function createLog(service: string, level: (typeof logLevels)[number]): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: isoTime(),
      formatters: { level: (label) => ({ level: label }) },
    },
    together(process.stdout),
  );
}

/**
 * Lines written together. pino's own destination does as much, but never returns from its last write when the
 * reader has gone.
 */
function together(output: NodeJS.WriteStream) {
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const flushSync = () => {
    clearTimeout(timer);
    timer = undefined;
    // To a pipe or a file, Node writes at once and wholly.
    if (lines !== '') output.write(lines);
    lines = '';
  };
  output.on('error', () => {});
  process.once('exit', flushSync);
  return {
    write(line: string) {
      lines += line;
      if (lines.length >= enough) flushSync();
      else timer ??= setTimeout(flushSync, longest);
    },
    flushSync,
  };
}

/** The time as pino writes it into a line. Hundreds of lines share a millisecond under load, and its text. */
function isoTime(): () => string {
  let last = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}
