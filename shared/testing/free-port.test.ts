import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { freePort } from './free-port.ts';

/** What a process gets that begins to look at `from`, and ends. */
async function elsewhere(from: number): Promise<number> {
  const source = `
    import { freePort } from ${JSON.stringify(new URL('free-port.ts', import.meta.url))};
    console.log(await freePort(${from}));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source]);
  return Number(stdout);
}

test('A free port is given to one process at a time, and to no outgoing connection', async () => {
  const first = await freePort();
  const others = await Promise.all([freePort(first), freePort(first), elsewhere(first)]);
  expect(new Set([first, ...others]).size).toBe(4);
  for (const port of others) expect(port).toBeGreaterThan(first);
  for (const port of [first, ...others]) expect(port).toBeLessThan(32_768);
});

test('A port is free again when the process that had it has ended', async () => {
  const port = await elsewhere(await freePort());
  await expect.poll(() => elsewhere(port), { timeout: 20_000 }).toBe(port);
});
