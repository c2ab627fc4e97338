import { expect, vi } from 'vitest';
import { added, remove } from '../load.ts';
import { row } from '../rehearse.ts';

/** A log line that says how to get the data back. */
const wayOut = /redis-check-aof|make restore/;
/** Milliseconds. Docker doubles its wait after each short run of a container, also across rows. */
const start = 90_000;

row.for([
  ['file-truncated', 'truncate -s -9 "$(ls -S *.incr.aof | head -n 1)"'],
  [
    'file-corrupt',
    `f=$(ls -S *.incr.aof | head -n 1) && n=$(grep -abo '^\\*[0-9]' "$f" | tail -n 2 | head -n 1 | cut -d : -f 1) &&
     { head -c "$n" "$f"; printf nonsense; tail -c "+$((n + 1))" "$f"; } >new && cat new >"$f" && rm new`,
  ],
  ['file-of-another-version', 'printf 9999 | dd of="$(ls *.base.rdb)" bs=1 seek=5 conv=notrunc 2>/dev/null'],
])('%s', async ([, damage = ''], { stack, annotate }) => {
  const { tasks } = stack.urls;
  const began = Date.now();
  const prefix = `rehearsal-${began}`;
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  const listed = () => added(tasks, prefix).catch(() => undefined);
  await stack.settled();
  for (const title of [`${prefix} 1`, `${prefix} 2`, `${prefix} 3`])
    await fetch(`${tasks}/tasks`, { method: 'POST', headers, body: JSON.stringify({ title }) });
  await stack.inside('disk', 'rm -rf whole && cp -a appendonlydir whole');
  try {
    await stack.inside('disk', `cd appendonlydir && ${damage}`);
    await stack.kill('tasks-store');
    const { found, said } = await vi.waitUntil(async () => {
      const found = await listed();
      const said = (await stack.log('tasks-store', began)).find((line) => wayOut.test(line));
      return found || said ? { found, said } : undefined;
    }, start);
    await annotate(found ? `started with ${found.length} of 3 tasks` : 'did not start');
    if (said) await annotate(`said: ${said.slice(0, 240)}`);
    // The damage may include the last command.
    if (found) expect(found.length).toBeGreaterThanOrEqual(2);
  } finally {
    await stack.inside('disk', 'rm -rf appendonlydir && mv whole appendonlydir');
    await stack.kill('tasks-store');
    await expect.poll(async () => (await listed())?.length, { timeout: start }).toBe(3);
  }
  await remove(tasks, await added(tasks, prefix));
});
