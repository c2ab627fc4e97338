import { createInterface } from 'node:readline';
import { formatLogLine } from './log-line.ts';

/** Writes the lines of `docker compose logs`, each a container's name and a record, as readable lines. */
for await (const line of createInterface(process.stdin)) {
  const [, container = '', record = ''] = /^([\w.-]+ +\| )?(.*)$/s.exec(line) ?? [];
  const [, time = ''] = /^\{"level":"\w+","time":"[\d-]+T([\d:.]+)/.exec(record) ?? [];
  console.log(`${container}${time}${time && ' '}${formatLogLine(record)}`);
}
