import { expect, onTestFinished, test, vi } from 'vitest';
import { Deadline } from './deadline.ts';

const times = { hop: 3_000, chain: 8_000 };
const url = new URL('http://a.example/');

/** Creates a deadline with a fake clock. `reason` returns why it has ended. */
function startDeadline(signal?: AbortSignal) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const deadline = new Deadline(signal, times);
  onTestFinished(() => deadline.end());
  return { deadline, reason: () => deadline.signal.reason?.message };
}

test('a hop ends after its time, and a new hop starts anew', () => {
  const { deadline, reason } = startDeadline();
  deadline.startHop(url);
  vi.advanceTimersByTime(2_999);
  deadline.startHop(url);
  vi.advanceTimersByTime(2_999);
  expect(reason()).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(reason()).toBe('a.example did not respond within 3 seconds.');
});

test('a wait does not count, but the time before it does', () => {
  const { deadline, reason } = startDeadline();
  const hops = (count: number) => {
    for (let i = 0; i < count; i += 1) {
      deadline.startHop(url);
      vi.advanceTimersByTime(2_000);
    }
  };
  hops(2);
  deadline.pause();
  vi.advanceTimersByTime(60_000);
  expect(reason()).toBeUndefined();
  deadline.resume();
  expect(deadline.elapsed()).toBe(4_000);
  hops(1);
  deadline.startHop(url);
  vi.advanceTimersByTime(1_999);
  expect(reason()).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(reason()).toBe('No page was reached within 8 seconds; a.example had not responded yet.');
});

test('a hop has its whole time after a wait', () => {
  const { deadline, reason } = startDeadline();
  deadline.startHop(url);
  vi.advanceTimersByTime(2_000);
  deadline.pause();
  vi.advanceTimersByTime(10_000);
  deadline.resume();
  vi.advanceTimersByTime(2_999);
  expect(reason()).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(reason()).toBe('a.example did not respond within 3 seconds.');
});

test("ends with the caller's signal, and never after `end`", () => {
  const caller = new AbortController();
  const { deadline, reason } = startDeadline(caller.signal);
  caller.abort();
  expect(deadline.signal.reason).toMatchObject({ code: 'aborted' });
  const other = startDeadline().deadline;
  other.end();
  vi.advanceTimersByTime(60_000);
  expect([reason() === undefined, other.signal.aborted]).toEqual([false, false]);
});
