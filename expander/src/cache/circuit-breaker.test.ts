import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { circuitBreaker } from './redis.ts';

/** A breaker over something that hangs when it is told to. */
function breaker() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const log = { warn: () => {}, info: () => {} };
  const state = { hangs: true, asked: 0 };
  const attempt = circuitBreaker('the cache', log);
  const ask = () =>
    attempt('GET', async () => {
      state.asked += 1;
      if (state.hangs) await new Promise(() => {});
      return 'answer';
    }).catch(({ message }) => message);
  return { state, ask };
}

describe('what hangs', () => {
  test('is waited for 250 ms', async () => {
    const { ask } = breaker();
    let said: unknown;
    ask().then((text) => {
      said = text;
    });
    await vi.advanceTimersByTimeAsync(249);
    expect(said).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(said).toBe('the cache did not answer within 250 ms');
  });

  test('is then asked once a second, everybody else goes on at once, until it has answered', async () => {
    const { ask, state } = breaker();
    ask();
    await vi.advanceTimersByTimeAsync(250);
    expect(await Promise.all([ask(), ask()])).toEqual(['the cache hangs', 'the cache hangs']);
    await vi.advanceTimersByTimeAsync(1_000);
    ask();
    expect(await ask()).toBe('the cache hangs');
    expect(state.asked).toBe(2);
    await vi.advanceTimersByTimeAsync(1_250);
    state.hangs = false;
    expect([await ask(), await ask(), await ask()]).toEqual(['answer', 'answer', 'answer']);
  });
});

test('what answers after 300 ms costs one operation in 1.25 s its 250 ms, and one warning', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const log = { warn: (line: string) => lines.push(line), info: (line: string) => lines.push(line) };
  let asked = 0;
  const slow = () => {
    asked += 1;
    return new Promise((resolve) => setTimeout(resolve, 300));
  };
  const attempt = circuitBreaker('the cache', log as never);
  const requests = setInterval(() => attempt('GET', slow).catch(() => {}), 50);
  await vi.advanceTimersByTimeAsync(10_000);
  clearInterval(requests);
  // Six before the first is late, then one whenever the pause is over.
  expect(asked).toBeLessThan(6 + 9);
  expect(lines).toEqual(['the cache did not answer within 250 ms; it is tried once a second until it does']);
});

test('what fails at once is tried every time', async () => {
  const attempt = circuitBreaker('the cache', console);
  let tried = 0;
  const fail = () => {
    tried += 1;
    return Promise.reject(new Error('away'));
  };
  await expect(attempt('GET', fail)).rejects.toThrow('away');
  await expect(attempt('GET', fail)).rejects.toThrow('away');
  expect(tried).toBe(2);
});
