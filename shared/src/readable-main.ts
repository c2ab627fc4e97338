import { createInterface } from 'node:readline';
import { formatLogLine } from './log-line.ts';

/** Writes the records of standard input, one a line, as lines for people. */
for await (const line of createInterface(process.stdin)) {
  const [, time = '', service = ''] = /"time":"([^"]*)","service":"([^"]*)"/.exec(line) ?? [];
  console.log(`${time.slice(11, 23)} ${service.padEnd(8)} | ${formatLogLine(line)}`);
}
