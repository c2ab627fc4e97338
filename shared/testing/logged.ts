import { Writable } from 'node:stream';
import { pino } from 'pino';

/** A log, and its lines as they are written. */
export function logged() {
  const lines: Record<string, unknown>[] = [];
  const log = pino(new Writable({ write: (line, _, done) => done(void lines.push(JSON.parse(line))) }));
  return { lines, log };
}
