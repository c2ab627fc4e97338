import { expect, vi } from 'vitest';
import { pause, type RehearsedStack } from '../containers.ts';
import { added, remove } from '../load.ts';
import { type Drill, row } from '../rehearse.ts';

const store = 'tasks-store';

/** Waits until Redis has loaded its file. */
const loaded = (stack: RehearsedStack) =>
  expect.poll(() => stack.redis(store, 'PING').catch(() => ''), { timeout: 30_000 }).toBe('PONG');

const limit = (stack: RehearsedStack, memory: string) =>
  stack.redis(store, 'CONFIG', 'SET', 'maxmemory', memory);

const expectTimelyResponses = (seen: Drill) => {
  expect(seen.failed(['hot', 'miss'])).toBe('');
  expect(seen.slowest('read', 'write')).toBeLessThan(1.2);
  expect(seen.lastSentThatFailed('ended')).toBeLessThan(2);
};

row.for<[string, (stack: RehearsedStack) => Promise<unknown>]>([
  ['store-killed', (stack) => stack.kill(store).then(() => loaded(stack))],
  ['store-hung', (stack) => stack.hang(4, store)],
  ['store-restarted', (stack) => stack.terminate(store).then(() => loaded(stack))],
])('%s', async ([, fault], { stack, rehearse }) => {
  const seen = await rehearse(() => fault(stack));
  expectTimelyResponses(seen);
  expect(seen.failed(['read', 'write'], 503)).toBe('');
});

row('store-slow', async ({ stack, rehearse }) => {
  let slow = { from: 0, to: 0 };
  const seen = await rehearse(async () => {
    slow = await stack.relay(store, { delay: 100 }, 4);
  });
  expectTimelyResponses(seen);
  // Starting and stopping the relay closes connections. Reconnecting takes at most a second.
  const meanwhile = seen.requests.filter(
    ({ at, milliseconds }) => at - milliseconds > slow.from + 1_000 && at < slow.to,
  );
  expect(meanwhile.filter(({ right }) => !right)).toEqual([]);
  expect(meanwhile.length).toBeGreaterThan(0);
});

row('store-out-of-memory', async ({ stack, rehearse }) => {
  const seen = await rehearse(async () => {
    await limit(stack, '1');
    await pause(3);
    await limit(stack, '256mb');
  });
  expectTimelyResponses(seen);
  expect(seen.failed(['read'])).toBe('');
  expect(seen.failed(['write'], 503)).toBe('');
});

row('store-disk-full', async ({ stack, rehearse, annotate }) => {
  const seen = await rehearse(async (drill) => {
    await stack.inside('disk', 'cat /dev/zero >filler 2>/dev/null || true');
    await pause(20);
    await stack.inside('disk', 'rm filler');
    drill.ended = Date.now();
    await stack.settled();
    await pause(15);
  });
  expect(seen.failed(['hot', 'miss'])).toBe('');
  expect(seen.failed(['read', 'write'], 503)).toBe('');
  expect(seen.lastSentThatFailed('ended')).toBeLessThan(15);

  const exits = (await stack.exits(store, seen.began)).map(({ at }) => at);
  await annotate(`Redis exited ${exits.length} times`);
  // Each tasks replica attempts two writes immediately, and two more every 12 s.
  expect(exits.length).toBeLessThanOrEqual(stack.replicas('tasks') * 2 * (1 + Math.floor(20 / 12)));
  const pages = seen.requests.filter(({ kind, right }) => kind === 'read' && right);
  for (const [i, exit] of exits.entries()) {
    const next = pages.find(({ at, milliseconds }) => at - milliseconds > exit)?.at ?? Infinity;
    expect(Math.min(next, exits[i + 1] ?? Infinity) - exit).toBeLessThan(3_000);
  }
});

/** Matches a log line with a remedy. */
const remedy = /redis-check-aof|make restore/;
/** Maximum startup time (ms). Docker doubles the restart delay after each short run of a container. */
const startTimeout = 90_000;

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
    const { found, line } = await vi.waitUntil(async () => {
      const found = await listed();
      const line = (await stack.log('tasks-store', began)).find((line) => remedy.test(line));
      return found || line ? { found, line } : undefined;
    }, startTimeout);
    await annotate(found ? `started with ${found.length} of 3 tasks` : 'did not start');
    if (line) await annotate(`log: ${line.slice(0, 240)}`);
    // Only the last command may be lost.
    if (found) expect(found.length).toBeGreaterThanOrEqual(2);
  } finally {
    await stack.inside('disk', 'rm -rf appendonlydir && mv whole appendonlydir');
    await stack.kill('tasks-store');
    await expect.poll(async () => (await listed())?.length, { timeout: startTimeout }).toBe(3);
  }
  await remove(tasks, await added(tasks, prefix));
});
