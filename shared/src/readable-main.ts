import { createInterface } from 'node:readline';
import { formatLogLine } from './log-line.ts';

/** Writes records, each after its container's name as in `docker compose logs`, or alone, as readable lines. */
for await (const line of createInterface(process.stdin)) {
  const [, container = '', record = ''] = /^([\w.-]+ +\| )?(.*)$/s.exec(line) ?? [];
  const [, time = ''] = /^\{"level":"\w+","time":"[\d-]+T([\d:.]+)/.exec(record) ?? [];
  const [, service = ''] = /^\{.*?"service":"([\w-]+)"/.exec(record) ?? [];
  const source = container || (service && `${service.padEnd(14)} | `);
  console.log(`${source}${time}${time && ' '}${formatLogLine(record)}`);
}
