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
