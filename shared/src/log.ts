import { type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Bytes of lines that are written at once: a system call for each would cost more than the answer it tells of. */
const minLength = 4_096;
/** Milliseconds that a line waits for others at the most. */
const periodicFlush = 100;

/**
 * A log of JSON lines on standard output, each with an ISO 8601 time, the level by name and the service.
 * What is not written yet when the process exits, by itself or by an error, is written then.
 */
export function createLog(service: string, level: (typeof logLevels)[number]): Logger {
  const output = pino.destination({ dest: 1, sync: false, minLength, periodicFlush });
  return pino(
    {
      level,
      base: { service },
      timestamp: isoTime(),
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  );
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
