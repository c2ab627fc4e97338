import { Writable } from 'node:stream';
import { pino } from 'pino';
import { serializers } from '../src/log.ts';

/** Creates a log that keeps its lines in memory. */
export function logged() {
  const lines: Record<string, unknown>[] = [];
  const stream = new Writable({ write: (line, _, done) => done(void lines.push(JSON.parse(line))) });
  const log = pino({ serializers }, stream);
  return { lines, log };
}
