import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('what docker compose logs prints becomes readable, container by container', () => {
  const record = { level: 'error', time: '2026-11-21T22:10:01.123Z', service: 'tasks', msg: 'request' };
  const request = { ...record, method: 'GET', path: '/', status: 503, seconds: 1.5, client: '192.0.2.1' };
  const input = [
    `tasks-1        | ${JSON.stringify(request)}`,
    'tasks-store-1  | 1:M 21 Nov 2026 21:11:41.653 * Ready to accept connections tcp',
    'no container',
  ].join('\n');
  const output = execFileSync(process.execPath, [join(import.meta.dirname, 'readable-main.ts')], { input });
  expect(`${output}`).toBe(
    [
      'tasks-1        | 22:10:01.123 error: GET / 503 1500 ms client=192.0.2.1',
      'tasks-store-1  | Ready to accept connections tcp',
      'no container',
      '',
    ].join('\n'),
  );
});
