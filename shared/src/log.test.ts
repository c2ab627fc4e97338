import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';

/** Runs `code` with a `log` in another process. */
function logging(code: string) {
  const source = `import { createLog } from './log.ts'; const log = createLog('a-service', 'info'); ${code}`;
  const options = { cwd: import.meta.dirname, stdio: ['pipe', 'pipe', 'ignore', 'ipc'] } as const;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], options as never);
  return child as ChildProcessWithoutNullStreams;
}

const lines = (output: string) => JSON.parse(`[${output.trim().replaceAll('\n', ',')}]`);

describe('A log', () => {
  test('writes JSON lines without terminal escape sequences', async () => {
    const hostile = 'a\u0007b\u001b[2J\u007f\u009b2J\u061c\u200e\u202e\u2028\u2066 \u00e9\u2014z';
    const code = `
      log.warn({ task: 7 }, 'odd');
      log.debug('left out');
      log.info({ path: ${JSON.stringify(hostile)} }, ${JSON.stringify(hostile)});
    `;
    const output = await text(logging(code).stdout);
    const [first, ...others] = lines(output);
    expect(first).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      service: 'a-service',
      task: 7,
      msg: 'odd',
    });
    expect(others).toMatchObject([{ path: hostile, msg: hostile }]);
    expect(output).toMatch(/^[ -~\u00e9\u2014\n]+$/);
  });

  test('gives each line its time to the millisecond, also if the clock goes back', async () => {
    const times = [0, 7, 999, 1_000, 1_067, 1_796_000_000_050, 7];
    const code = `for (const time of ${JSON.stringify(times)}) { Date.now = () => time; log.info('line'); }`;
    const written: { time: string }[] = lines(await text(logging(code).stdout));
    expect(written.map(({ time }) => time)).toEqual(times.map((time) => new Date(time).toISOString()));
  });

  test('does not lose lines when the process exits or throws', async () => {
    const many = `for (let i = 0; i < 2_000; i++) log.info('line');`;
    for (const end of ['process.exit(0)', 'throw undefined']) {
      const written = lines(await text(logging(`${many} log.error('last'); ${end}`).stdout));
      expect([written.length, written.at(-1).msg], end).toEqual([2_001, 'last']);
    }
  });

  test('does not end the process when the reader closes the pipe', async () => {
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

  test('drops and counts lines beyond 4 MiB while the reader stalls', async () => {
    const child = logging(`
      let sent = 0;
      const timer = setInterval(() => {
        for (let i = 0; i < 100; i++, sent++) log.info('x'.repeat(10_000));
        if (sent < 8_000) return;
        clearInterval(timer);
        process.send('sent');
      });
      process.once('message', () => process.exit());
    `);
    await once(child, 'message');
    const output = text(child.stdout);
    child.send('read');
    const written: { msg: string; dropped?: number }[] = lines(await output);
    const dropped = written.reduce((sum, line) => sum + (line.dropped ?? 0), 0);
    const kept = written.filter(({ msg }) => msg.startsWith('xxx')).length;
    expect(kept + dropped).toBe(8_000);
    // 4 MiB in the logging process, plus the pipe and this process's buffer.
    expect(kept * 10_000).toBeLessThan(4.5 * 1024 ** 2);
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('delays the exit by at most 2 s if the reader stalls', async () => {
    const child = logging(`
      for (let i = 0; i < 1_000; i++) log.info('x'.repeat(1_000));
      process.exit(3);
    `);
    expect(await once(child, 'exit')).toEqual([3, null]);
  });
});
