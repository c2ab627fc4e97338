import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatLogLine } from './log-line.ts';

describe('A line of output', () => {
  test.each([
    [
      'a request',
      '{"level":"info","service":"tasks","msg":"request","method":"GET","path":"/","status":200,"seconds":0.00151,"cache":""}',
      'GET / 200 1.5 ms',
    ],
    [
      'a warning',
      '{"level":"warn","msg":"redis is away","err":{"message":"gone"}}',
      'warn: redis is away (gone)',
    ],
    ['a line of Redis', '17:M 21 Nov 2026 21:11:41.653 # Server initialized', 'Server initialized'],
    ['a line of nginx', '2026/11/21 21:11:41 [emerg] 17#17: no port', 'emerg: no port'],
    ['what is no record', '{"level":', '{"level":'],
  ])('is for people: %s', (_, line, expected) => {
    expect(formatLogLine(line)).toBe(expected);
  });

  test.each([
    [
      'a line feed in a field',
      '{"level":"info","msg":"a\\nproxy | GET /forged 200"}',
      'a\\u000aproxy | GET /forged 200',
    ],
    [
      'an escape sequence in a field',
      '{"level":"info","msg":"x","host":"/\\u001b[2J"}',
      'x host=/\\u001b[2J',
    ],
    [
      'C1 in a record',
      '{"level":"info","msg":"request","method":"GET","path":"/\u009b2J","status":404,"seconds":0.002}',
      'GET /\\u009b2J 404 2 ms',
    ],
    ['C1 in other output', 'a\u009b2J', 'a\\u009b2J'],
    ['bidi controls', 'a\u202eb\u2066c\u200f', 'a\\u202eb\\u2066c\\u200f'],
    ['a carriage return', 'a\rb', 'a\\u000db'],
  ])('commands no terminal: %s', (_, line, expected) => {
    expect(formatLogLine(line)).toBe(expected);
  });
});

test('what docker compose logs prints, and the log of a native stack, become readable', () => {
  const record = { level: 'error', time: '2026-11-21T22:10:01.123Z', service: 'tasks', msg: 'request' };
  const request = { ...record, method: 'GET', path: '/', status: 503, seconds: 1.5, client: '192.0.2.1' };
  const input = [
    `tasks-1        | ${JSON.stringify(request)}`,
    'tasks-store-1  | 1:M 21 Nov 2026 21:11:41.653 * Ready to accept connections tcp',
    JSON.stringify(request),
    'no container',
  ].join('\n');
  const output = execFileSync(process.execPath, [join(import.meta.dirname, 'readable-main.ts')], { input });
  expect(`${output}`).toBe(
    [
      'tasks-1        | 22:10:01.123 error: GET / 503 1500 ms client=192.0.2.1',
      'tasks-store-1  | Ready to accept connections tcp',
      'tasks          | 22:10:01.123 error: GET / 503 1500 ms client=192.0.2.1',
      'no container',
      '',
    ].join('\n'),
  );
});
