import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Faults } from '../fault.ts';
import { noneFails, slowedAtMost } from '../judge.ts';
import { added, remove } from '../ledger.ts';
import { send } from '../load.ts';
import { disguises } from '../smuggled.ts';
import { pause } from '../until.ts';

/** Paths of the shortener that behave badly. */
const hostile = ['/hang', '/endless', '/headers/1000000', '/reset', '/malformed', '/loop', '/delay/60000'];

/** Expansions in flight, and seconds between two. The load comes from the same address, so it shares these limits. */
const [inFlight, rest] = [150, 0.3];

/** Hostile targets and clients. */
export const strangerFaults: Faults = {
  'hostile-targets': {
    judges: [noneFails(), slowedAtMost(2, 'hot', 'miss', 'read')],
    async cause(stack, drill) {
      const count = 10_000;
      let started = 0;
      let longest = 0;
      const statuses: number[] = [];
      const side = async () => {
        while (started < count) {
          const target = `${stack.otherShortener}${hostile[started++ % hostile.length]}?id=${randomUUID()}`;
          const start = Date.now();
          const { status } = await send(`${stack.urls.expander}/api?u=${encodeURIComponent(target)}`);
          longest = Math.max(longest, Date.now() - start);
          statuses.push(status);
          await pause(rest);
        }
      };
      await Promise.all(Array.from({ length: inFlight }, side));
      const times = [...Map.groupBy(statuses, (status) => status)];
      drill.notes.push(times.map(([status, { length }]) => `${length} × ${status}`).join(', '));
      drill.notes.push(`the slowest took ${(longest / 1_000).toFixed(1)} s`);
      if (longest > 8_000) drill.broken.push(`one took ${(longest / 1_000).toFixed(1)} s`);
    },
  },
  'hostile-clients': {
    judges: [noneFails(), slowedAtMost(2, 'hot', 'miss', 'read')],
    async cause(stack) {
      const { hostname, port } = new URL(stack.urls.tasks);
      const sockets: Socket[] = [];
      const open = (bytes: string, count: number) => {
        for (let i = 0; i < count; i++) {
          const socket = connect(Number(port), hostname).on('error', () => {});
          socket.pause().write(bytes);
          sockets.push(socket);
        }
      };
      open('GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ', 300);
      open('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n', 300);
      open('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(20), 50);
      open('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n\x00\xff garbage\r\n\r\n', 50);
      await pause(8);
      for (const socket of sockets) socket.destroy();
    },
  },
  'smuggled-request': {
    judges: [noneFails()],
    async cause(stack, drill) {
      const title = `rehearsal-smuggled-${randomUUID()}`;
      const body = JSON.stringify({ title });
      const json = 'Host: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\n';
      const hidden = `POST /tasks HTTP/1.1\r\n${json}Content-Length: ${body.length}\r\n\r\n${body}`;
      const { hostname, port } = new URL(stack.urls.tasks);
      for (const bytes of disguises(hidden, json)) {
        const socket = connect(Number(port), hostname).on('error', () => {});
        socket.end(bytes);
        await Promise.race([text(socket).catch(() => ''), pause(2)]);
      }
      const found = await added(stack.urls.tasks, title);
      if (found.length > 0) drill.broken.push(`${found.length} hidden writes were carried out`);
      await remove(stack.urls.tasks, found);
    },
  },
};
