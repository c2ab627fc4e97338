import { constants, copyFileSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';

/** Log of one run, in the stack's folder. Each line is a JSON record. nginx appends its own lines. */
export const logFile = 'stack.log';

export const formerLogFile = `${logFile}.1`;

const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND } = constants;

/** Starts a new log in the working directory. @returns a function that appends a line to it. */
export function startLog(): (service: string, line: string) => void {
  const file = openSync(logFile, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600);
  setInterval(() => boundLog(logFile, formerLogFile, 2 ** 25), 10_000).unref();
  return (service, line) => appendLine(file, service, line);
}

/** Moves all lines from `file` to `former` if `file` has at least `size` bytes. Keeps `file`, because nginx has it open. */
export function boundLog(file: string, former: string, size: number): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat || stat.size < size) return;
  try {
    copyFileSync(file, former);
  } catch {
    // A full disk loses these lines.
  }
  truncateSync(file);
}

export function appendLine(file: number, service: string, line: string): void {
  const record = line.startsWith('{')
    ? line
    : JSON.stringify({ level: 'info', time: new Date().toISOString(), service, msg: line });
  try {
    writeSync(file, `${record}\n`);
  } catch {
    // A full disk loses this line, but must not stop the stack.
  }
}

/**
 * Calls `onLine` with each line of `output`. Only a line feed ends a line. node:readline would also split at a carriage return
 * or U+2028, which would let a client forge a log line.
 */
export function forEachLine(output: Readable, onLine: (line: string) => void): void {
  let rest = '';
  output.setEncoding('utf8');
  output.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
  output.on('end', () => {
    if (rest !== '') onLine(rest);
  });
}
