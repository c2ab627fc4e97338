import { expect, test } from 'vitest';
import type { Task } from '../src/task/task.ts';
import { compare, type Device } from './ledger.ts';

/** A device that has sent these titles at second 1 and shown these messages at second 2. */
const device = (name: string, titles: string[], messages: string[] = []): Device => ({
  name,
  entered: [],
  notes: messages.map((text) => ({ kind: 'said', time: 2_000, text })),
  forwarded: titles.map((title) => ({
    time: 1_000,
    method: 'POST',
    path: '/task',
    body: `${new URLSearchParams({ title })}`,
    status: 302,
  })),
});

test('A page may name a task that it has added by the title that another device has given it', () => {
  const tooEarly = ['a: said Added: a9.~33 too early'];
  const a = (...titles: string[]) => device('a', titles, ['Added: a9.~33']);
  expect(compare([a('a9.'), device('b', ['a9.~33'])], [], [])).toEqual([]);
  expect(compare([a('a9.'), device('b', [])], [], [])).toEqual(tooEarly);
  expect(compare([a(), device('b', ['a9.~33'])], [], [])).toEqual(tooEarly);
});

test('A page may say that a task was added which has waited for a connection, and was sent as JSON', () => {
  const waited = device('a', ['a1.'], ['Added: a1.']);
  const forwarded = waited.forwarded.map((request) => ({ ...request, body: '{"title":"a1."}', status: 201 }));
  expect(compare([{ ...waited, forwarded }], [], [])).toEqual([]);
  expect(compare([{ ...waited, forwarded: [] }], [], [])).toEqual(['a: said Added: a1. too early']);
});

test('A tick that was not sent is lost, unless the user has taken it back', () => {
  const task = { _id: '7', title: 'a1.', finished: 0 } as Task;
  const known = [{ id: '7', title: 'a1.' }];
  const faults = (states: (0 | 1)[], messages: Device['notes'] = []) => {
    const ticks = states.map((finished, i) => ({
      kind: 'ticked' as const,
      id: '7',
      finished,
      time: 3_000 + i,
    }));
    const notes = [...ticks, ...messages];
    return compare([{ ...device('a', ['a1.']), entered: ['a1.'], notes }], [task], known);
  };
  expect(faults([1, 0])).toEqual([]);
  expect(faults([1]).join()).toContain('lost');
  expect(faults([1, 0, 1]).join()).toContain('lost');
  // A deletion of the task has failed between the two.
  expect(faults([1, 0], [{ kind: 'said', time: 3_000, text: '\u2068a1.\u2069: Failed.' }])).toEqual([]);
  const conflict =
    'Somebody else changed this task. It is finished now and reads “\u2068a1.~9\u2069”. Nothing was undone.';
  expect(faults([1], [{ kind: 'said', time: 3_000, text: conflict }])).toEqual([]);
  // The first tick has failed.
  expect(faults([1, 1], [{ kind: 'said', time: 3_000, text: '\u2068a1.\u2069: Failed.' }]).join()).toContain(
    'lost',
  );
});

test('A page may say that a task was added which a killed store has saved before the service responded with 503', () => {
  const answered = (status: number) => {
    const a = device('a', ['a1.'], ['Added: a1.']);
    return { ...a, forwarded: a.forwarded.map((request) => ({ ...request, status })) };
  };
  expect(compare([answered(503)], [], [])).toEqual([]);
  expect(compare([answered(422)], [], [])).toEqual(['a: said Added: a1. too early']);
});
