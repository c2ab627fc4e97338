import { untimed } from '@longhand/shared/spans.ts';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { circuitBreaker } from './redis.ts';

/** A breaker over something that hangs when it is told to, with the lines of its log. */
function breaker() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const log = { warn: (line: string) => lines.push(line), info: (line: string) => lines.push(line) };
  const state = { hangs: true, asked: 0 };
  const attempt = circuitBreaker('the cache', log as never, untimed, () => Date.now());
  const ask = () =>
    attempt('GET', async () => {
      state.asked += 1;
      if (state.hangs) await new Promise(() => {});
      return 'answer';
    }).catch(({ message }) => message);
  return { state, lines, ask };
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

  test('is then asked once a second, and everybody else goes on at once', async () => {
    const { ask, state } = breaker();
    ask();
    await vi.advanceTimersByTimeAsync(250);
    expect(await Promise.all([ask(), ask()])).toEqual(['the cache hangs', 'the cache hangs']);
    await vi.advanceTimersByTimeAsync(1_000);
    ask();
    expect(await ask()).toBe('the cache hangs');
    expect(state.asked).toBe(2);
  });

  test('is asked by everybody again once it has answered', async () => {
    const { ask, state } = breaker();
    ask();
    await vi.advanceTimersByTimeAsync(1_250);
    state.hangs = false;
    expect([await ask(), await ask(), await ask()]).toEqual(['answer', 'answer', 'answer']);
  });

  test('is one warning when it begins and one line when it is over', async () => {
    const { ask, state, lines } = breaker();
    for (let n = 0; n < 3; n += 1) {
      ask();
      ask();
      await vi.advanceTimersByTimeAsync(1_250);
    }
    expect(lines).toEqual([
      'the cache did not answer within 250 ms; it is tried once a second until it does',
    ]);
    state.hangs = false;
    await ask();
    await ask();
    expect(lines.slice(1)).toEqual(['the cache answers again']);
  });
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
