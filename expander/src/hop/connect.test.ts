import { lookup } from 'node:dns';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { connector } from './connect.ts';

test('the TLS sessions of all websites take at most 4 MiB; the longest unused ones go first', () => {
  const sessions: (number | undefined)[] = [];
  const connect = connector(lookup, (_, { session }) => {
    sessions.push(session?.length);
    return new Socket();
  });
  const visit = (i: number) =>
    connect(new URL(`https://${i}.example`), { ALPNProtocols: ['http/1.1'] }) as Socket;
  for (let i = 0; i <= 4_096; i += 1) visit(i).emit('session', Buffer.alloc(1_024));
  for (const i of [0, 1]) visit(i);
  expect(sessions.slice(-2)).toEqual([undefined, 1_024]);
});
