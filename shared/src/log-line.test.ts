import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatLogLine } from './log-line.ts';

const request = { level: 'info', msg: 'request', method: 'GET', path: '/', status: 200, seconds: 0.00151 };

test.each<[_: string, line: string | object, expected: string]>([
  ['a request', { ...request, service: 'tasks', cache: '' }, 'GET / 200 1.5 ms'],
  ['a warning', { level: 'warn', msg: 'gone', err: { message: 'reset' } }, 'warn: gone (reset)'],
  ['Redis', '17:M 21 Nov 2026 21:11:41.653 # Server initialized', 'Server initialized'],
  ['nginx', '2026/11/21 21:11:41 [emerg] 17#17: no port', 'emerg: no port'],
  ['not a record', '{"level":', '{"level":'],
  ['a line feed in a field', { level: 'info', msg: 'a\nforged' }, 'a\\u000aforged'],
  ['an escape sequence', { level: 'info', msg: 'x', host: '/\u001b[2J' }, 'x host=/\\u001b[2J'],
  ['C1 in a record', { ...request, path: '/\u009b2J' }, 'GET /\\u009b2J 200 1.5 ms'],
  ['C1 in other output', 'a\u009b2J', 'a\\u009b2J'],
  ['bidi controls', 'a\u202eb\u2066c\u200f', 'a\\u202eb\\u2066c\\u200f'],
  ['a carriage return', 'a\rb', 'a\\u000db'],
])('formatLogLine formats %s', (_, line, expected) => {
  expect(formatLogLine(typeof line === 'string' ? line : JSON.stringify(line))).toBe(expected);
});

test('log-line.ts formats the output of docker compose logs and of a native stack', () => {
  const start = { level: 'error', time: '2026-11-21T22:10:01.123Z', service: 'tasks' };
  const record = JSON.stringify({ ...start, ...request, level: 'error' });
  const input = [
    `tasks-1        | ${record}`,
    'tasks-store-1  | 1:M 21 Nov 2026 21:11:41.653 * Ready to accept connections tcp',
    record,
    'no container',
  ];
  const output = execFileSync(process.execPath, [join(import.meta.dirname, 'log-line.ts')], {
    input: input.join('\n'),
  });
  expect(`${output}`.trimEnd().split('\n')).toEqual([
    'tasks-1        | 22:10:01.123 error: GET / 200 1.5 ms',
    'tasks-store-1  | Ready to accept connections tcp',
    'tasks          | 22:10:01.123 error: GET / 200 1.5 ms',
    'no container',
  ]);
});
