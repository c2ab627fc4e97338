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
