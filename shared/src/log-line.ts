import { createInterface } from 'node:readline';
import { escapeControls } from './control-characters.ts';

/**
 * Formats a log line for a terminal. Prints the message and fields of a JSON record. Removes the time and process ID from Redis
 * and nginx log lines. Escapes control characters, because clients can inject them into a log.
 */
export const formatLogLine = (line: string): string => escapeControls(format(line));

/** Fields not printed after the message. */
const omitted = new Set(
  'level time service msg pid hostname method path status seconds end requestId err'.split(' '),
);

function format(line: string): string {
  const record = parseRecord(line);
  if (record === undefined) {
    return line
      .replace(/^\d+:\S+ (?:\(\d+\)|\d+ \w+ \d+ [\d:.]+ [.\-*#]) /, '')
      .replace(/^[\d/]+ [\d:]+ \[(\w+)\] \d+#\d+: /, '$1: ');
  }
  const { level, msg, method, path, status, seconds, err } = record;
  const prefix = level === 'info' ? '' : `${level}: `;
  const message = msg === 'request' ? `${method} ${path} ${status} ${duration(seconds)}` : `${msg}`;
  // nginx logs an empty string for an unknown value.
  const fields = Object.entries(record)
    .filter(([name, value]) => value !== '' && !omitted.has(name))
    .map(([name, value]) => `${name}=${text(value)}`);
  const cause = (err as { message?: string } | undefined)?.message;
  return [prefix + message, ...fields, ...(cause ? [`(${cause})`] : [])].join(' ');
}

function parseRecord(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const duration = (seconds: unknown) => `${Math.round(Number(seconds) * 10_000) / 10} ms`;

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

// Formats log lines from stdin. `docker compose logs` adds the container's name to each line.
if (import.meta.main) {
  for await (const line of createInterface(process.stdin)) {
    const [, container = '', record = ''] = /^([\w.-]+ +\| )?(.*)$/s.exec(line) ?? [];
    const [, time = ''] = /^\{"level":"\w+","time":"[\d-]+T([\d:.]+)/.exec(record) ?? [];
    const [, service = ''] = /^\{.*?"service":"([\w-]+)"/.exec(record) ?? [];
    const source = container || (service && `${service.padEnd(14)} | `);
    console.log(`${source}${time}${time && ' '}${formatLogLine(record)}`);
  }
}
