import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '@longhand/shared/serve.ts';
import { expect, test } from 'vitest';
import { testApp } from '../../testing/app.ts';
import type { Task, TaskStore } from '../task/task.ts';
import { pageMemory } from './page-memory.ts';

const text = (...pieces: string[]) => pieces.map((piece) => Buffer.from(piece));

test('memory is used again once the response that was in it is closed, and not before', () => {
  const join = pageMemory();
  const [first, second] = [new EventEmitter(), new EventEmitter()];
  const one = join(text('one ', 'page'), first);
  const other = join(text('another'), second);
  expect([`${one}`, `${other}`]).toEqual(['one page', 'another']);
  expect(other.buffer).not.toBe(one.buffer);
  first.emit('close');
  const third = join(text('a third'), new EventEmitter());
  expect(third.buffer).toBe(one.buffer);
  expect([`${third}`, `${other}`]).toEqual(['a third', 'another']);
});

test('a page that is longer, or that no socket sends, has memory of its own', () => {
  const join = pageMemory();
  const long = 'x'.repeat(300 * 1024);
  expect(`${join(text(long, '!'), new EventEmitter())}`).toBe(`${long}!`);
  expect(`${join(text('a', 'b'), undefined)}`).toBe('ab');
});

/** A list of a page of 100 tasks that never changes. */
const store = {
  async list() {
    const tasks = Array.from({ length: 100 }, (_, i): Task => {
      const created_at = '2026-01-02T03:04:05.678Z';
      return { _id: `${i + 1}`, title: 'ö'.repeat(200), finished: 0, created_at, revision: 1 };
    });
    return { version: '1', tasks, open: tasks.length, finished: 0 };
  },
  insert: async () => {},
} as unknown as TaskStore;

/** Asks for the list so often over one connection that what is not read fills every buffer on the way. */
async function ask(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause();
  await once(socket, 'connect');
  const get = 'GET / HTTP/1.1\r\nHost: a\r\n';
  socket.write(`${`${get}\r\n`.repeat(pages - 1)}${get}Connection: close\r\n\r\n`);
  return socket;
}
const pages = 20;

async function read(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  socket.resume();
  await once(socket, 'end');
  return `${Buffer.concat(pieces)}`;
}

test('each of several slow readers, some of whom go away, gets pages of its own from end to end', async () => {
  const stop = new AbortController();
  const { port, closed } = await serve(testApp(store), { host: '127.0.0.1', port: 0, signal: stop.signal });
  const tokens = new Set<string>();
  for (let round = 0; round < 2; round += 1) {
    const sockets = await Promise.all(Array.from({ length: 9 }, () => ask(port)));
    await sleep(50);
    for (const socket of sockets.splice(0, 3)) socket.destroy();
    for (const answer of await Promise.all(sockets.map(read))) {
      const found = answer.split('HTTP/1.1 200 OK').slice(1);
      expect(found).toHaveLength(pages);
      for (const page of found) {
        expect(page.match(/<li /g)).toHaveLength(100);
        expect(page.trimEnd().endsWith('</html>')).toBe(true);
        const [token = '', again] = [...page.matchAll(/name="_csrf" value="([\w-]{86})"/g)].map((m) => m[1]);
        expect(again).toBe(token);
        tokens.add(token);
      }
    }
  }
  expect(tokens.size).toBe(2 * 6 * pages);
  stop.abort();
  await closed;
});
