import type { Readable } from 'node:stream';

/**
 * Calls `onLine` with each line of `output`. Only a line feed ends a line. node:readline would also break at a carriage
 * return or U+2028, with which a client could forge a log line.
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
