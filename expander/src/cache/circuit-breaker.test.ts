import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { circuitBreaker } from './redis.ts';

/** Creates a circuit breaker for an operation with a duration of `state.milliseconds`. `lines` collects log messages. */
function breaker(milliseconds: number) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const log = { warn: (line: string) => lines.push(line), info: (line: string) => lines.push(line) };
  const state = { milliseconds, calls: 0 };
  const run = circuitBreaker('the cache', log as never);
  const get = () =>
    run('GET', async () => {
      state.calls += 1;
      if (state.milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, state.milliseconds));
      return 'value';
    }).catch(({ message }) => message);
  return { state, lines, get };
}

describe('a hung cache', () => {
  test('is probed once a second while other calls fail fast', async () => {
    const { get, state, lines } = breaker(1e9);
    const first = vi.fn();
    get().then(first);
    await vi.advanceTimersByTimeAsync(249);
    expect(first).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(first).toHaveBeenCalledWith('the cache did not respond within 250 ms');
    expect(await Promise.all([get(), get()])).toEqual(['the cache hangs', 'the cache hangs']);
    await vi.advanceTimersByTimeAsync(1_000);
    get();
    expect(await get()).toBe('the cache hangs');
    expect(state.calls).toBe(2);
    await vi.advanceTimersByTimeAsync(1_250);
    state.milliseconds = 0;
    expect([await get(), await get(), await get()]).toEqual(['value', 'value', 'value']);
    expect(lines).toEqual([expect.stringContaining('did not respond'), 'the cache responds again']);
  });

  test('delays only one call per 1.25 s if it responds after 300 ms', async () => {
    const { get, state, lines } = breaker(300);
    const requests = setInterval(get, 50);
    await vi.advanceTimersByTimeAsync(10_000);
    clearInterval(requests);
    // Six calls start before the first timeout, and fewer than nine probes follow.
    expect(state.calls).toBeLessThan(6 + 9);
    expect(lines).toEqual(['the cache did not respond within 250 ms; retrying once a second']);
  });
});

test('a quick failure does not open the circuit', async () => {
  const run = circuitBreaker('the cache', console);
  const fail = vi.fn(() => Promise.reject(new Error('away')));
  for (let i = 0; i < 2; i += 1) await expect(run('GET', fail)).rejects.toThrow('away');
  expect(fail).toHaveBeenCalledTimes(2);
});
