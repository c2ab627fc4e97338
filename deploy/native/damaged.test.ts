import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Runner } from '../testing/runner.ts';

describe('With a damaged append-only file', { timeout: 120_000 }, () => {
  const runner = new Runner();

  test('the start fails, says what to do, and leaves nothing running', async () => {
    const first = await runner.up();
    await runner.add('kept');
    await runner.interrupt(first);

    const data = join(runner.folder, 'tasks-store', 'appendonlydir');
    const file = join(data, (await readdir(data)).find((name) => name.endsWith('.incr.aof')) ?? '');
    const intact = await readFile(file);
    // Redis accepts connections while it loads a long file, long before it comes to the damage.
    const filler = '*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n'.repeat(200_000);
    await writeFile(file, Buffer.concat([intact, Buffer.from(`${filler}nonsense`), intact]));
    const { code, output } = await runner.run('up').exited;
    expect(code).toBe(1);
    expect(output).toContain(
      `The saved data cannot be read: a file in ${data} is damaged or missing. ` +
        `Make a copy of that folder, then run: redis-check-aof --fix ${data}/appendonly.aof.manifest\n`,
    );
    expect(output).not.toContain('Ctrl-C');
    expect((await runner.run('ps').exited).output).toBe('The stack is not running: `make up` starts it.\n');

    const base = join(data, (await readdir(data)).find((name) => name.endsWith('.base.rdb')) ?? '');
    const readable = await readFile(base);
    await writeFile(base, Buffer.concat([Buffer.from('REDIS9999'), readable.subarray(9)]));
    const newer = await runner.run('up').exited;
    expect(newer.code).toBe(1);
    expect(newer.output).toContain(
      `The saved data in ${data} was written by a newer Redis than this one: start with that version, ` +
        'or restore a backup that this one made: make restore FILE=…\n',
    );
    await writeFile(base, readable);

    // The last command may be half written when the power fails; Redis leaves it out by itself.
    await writeFile(file, intact);
    await appendFile(file, '*3\r\n$3\r\nSET\r\n$1');
    await runner.up();
    expect(await runner.titles()).toEqual(['kept']);
  });
});
