import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';

/** Runs `code` with a log, in a process of its own. */
function logging(code: string) {
  const source = `import { createLog } from './log.ts'; const log = createLog('a-service', 'info'); ${code}`;
  return spawn(process.execPath, ['--input-type=module-typescript', '--eval', source], {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
}

const lines = (output: string) =>
  output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('A log', () => {
  test('has JSON lines with an ISO 8601 time, the level by name and the service', async () => {
    const [line] = lines(await text(logging(`log.warn({ task: 7 }, 'odd'); log.debug('left out')`).stdout));
    expect(line).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      service: 'a-service',
      task: 7,
      msg: 'odd',
    });
  });

  test('has the same line of a request, quickly written or not', async () => {
    const requests = [
      { method: 'GET', path: '/a"\\\\\\u2028ü', status: 200, ms: 0.25, requestId: 'r"1', client: '::1' },
      { method: 'M-SEARCH', path: '/', status: 404, ms: 12 },
    ];
    const code = `for (const r of ${JSON.stringify(requests)}) { log.info(r, 'request'); log.request(r); }`;
    const output = await text(logging(code).stdout);
    const [info, request, info2, request2] = output.replace(/"time":"[^"]+"/g, '"time"').split('\n');
    expect([request, request2]).toEqual([info, info2]);
  });

  test('has no line of a request above its level', async () => {
    const code = `log.level = 'warn'; log.request({ method: 'GET', path: '/', status: 200, ms: 1 });`;
    expect(await text(logging(code).stdout)).toBe('');
  });

  test('is written to its last line when the process exits, or ends by an error', async () => {
    const many = `for (let i = 0; i < 2_000; i++) log.info('line');`;
    for (const end of ['process.exit(0)', 'throw undefined']) {
      const child = logging(`${many} log.error('last'); ${end}`);
      const written = lines(await text(child.stdout));
      expect([written.length, written.at(-1).msg]).toEqual([2_001, 'last']);
    }
  });

  test('goes nowhere when its reader has gone, and the process goes on and ends', async () => {
    const child = logging(`
      log.info('listening');
      process.stdin.on('end', () => { log.info('stopped'); });
      process.stdin.resume();
    `);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
