import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { send } from '@longhand/loadtest/load-generator.ts';
import { expect } from 'vitest';
import { pause, type RehearsedStack } from '../containers.ts';
import { type Drill, row } from '../rehearse.ts';

/** Paths of the shortener's hostile links. */
const targets = ['/hang', '/endless', '/headers/1000000', '/reset', '/malformed', '/loop', '/delay/60000'];

/** Requests from hostile clients, each with a number of connections. */
const clients: readonly (readonly [string, number])[] = [
  ['GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ', 300],
  ['GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n', 300],
  ['GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(20), 50],
  ['GET / HTTP/1.1\r\nHost: localhost\r\n\r\n\x00\xff garbage\r\n\r\n', 50],
  // nginx refuses these requests as too large, and waits for their bodies.
  [`POST /?${'x'.repeat(31_000)} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n`, 1_500],
];

/** Opens a connection to tasks and ignores errors. */
function open(stack: RehearsedStack) {
  const { hostname, port } = new URL(stack.urls.tasks);
  return connect(Number(port), hostname).on('error', () => {});
}

function expectOthersServed(seen: Drill) {
  expect(seen.failed()).toBe('');
  const { before, during } = seen.medians('hot', 'miss', 'read');
  expect(during).toBeLessThan(Math.max(0.05, 2 * before));
}

row('hostile-targets', async ({ stack, rehearse, annotate }) => {
  // These requests and the load share the same limits, because they share an address.
  const [count, inFlight, rest] = [10_000, 150, 0.3];
  let [started, longest] = [0, 0];
  const statuses = new Map<number, number>();
  const attack = async () => {
    while (started < count) {
      const target = `${stack.otherShortener}${targets[started++ % targets.length]}?id=${randomUUID()}`;
      const url = `${stack.urls.expander}/api?u=${encodeURIComponent(target)}`;
      const { status, milliseconds } = await send({ url });
      longest = Math.max(longest, milliseconds);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await pause(rest);
    }
  };
  expectOthersServed(await rehearse(() => Promise.all(Array.from({ length: inFlight }, attack))));
  await annotate(`statuses ${JSON.stringify([...statuses])}, the slowest took ${longest} ms`);
  expect(longest).toBeLessThanOrEqual(8_000);
});

row('hostile-clients', async ({ stack, rehearse, annotate }) => {
  let memory = 0;
  const seen = await rehearse(async () => {
    const sockets = clients.flatMap(([bytes, count]) =>
      Array.from({ length: count }, () => [open(stack), bytes] as const),
    );
    for (const [socket, bytes] of sockets) socket.pause().write(bytes);
    await pause(8);
    memory = Number(
      await stack.inside('proxy', "awk '/^Pss:/ { k += $2 } END { print k }' /proc/*/smaps_rollup"),
    );
    for (const [socket] of sockets) socket.destroy();
  });
  expectOthersServed(seen);
  await annotate(`the proxy used ${memory} kB`);
  // Half the container's memory.
  expect(memory).toBeGreaterThan(0);
  expect(memory).toBeLessThan(256 * 1_024);
});
