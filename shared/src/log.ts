import { type Logger, pino } from 'pino';
import { escapeControls } from './control-characters.ts';
import type { ServiceConfig } from './env.ts';
import { logWriter } from './log-writer.ts';
import { loggedError } from './logged-error.ts';

/** What a module needs of the log. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;

/** How a log writes the fields of these names. */
export const serializers = { err: loggedError };

/**
 * Creates a log of JSON lines on standard output, each with an ISO 8601 time, the level by name and the service.
 *
 * Writing to a pipe never blocks the process. Lines that were dropped are counted in a later line (`dropped`). What is left
 * is written when the process exits, for at most 2 s.
 */
export function createLog(service: string, level: ServiceConfig['LOG_LEVEL']): Logger {
  // Reading process.stdout makes the descriptor of a pipe non-blocking.
  const write = logWriter(process.stdout.fd, (dropped) =>
    log.warn({ dropped }, 'log lines were dropped because their reader is too slow'),
  );
  const log = pino(
    {
      level,
      serializers,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // JSON does not escape C1 and bidi controls, which a terminal obeys.
      hooks: { streamWrite: (line) => `${escapeControls(line.slice(0, -1))}\n` },
    },
    { write },
  );
  return log;
}
