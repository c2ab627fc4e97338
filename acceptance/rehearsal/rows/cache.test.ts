import { expect } from 'vitest';
import { pause, type RehearsedStack } from '../containers.ts';
import { row } from '../rehearse.ts';

/** Matches the expander's log lines about state changes of its cache. */
const changes = /redis is (?:down|back)|the cache in Redis (?:did not respond|responds again)/;

const cache = 'expander-cache';
const full = ['1', 'noeviction'];
const usual = ['64mb', 'allkeys-lfu'];
const limit = (stack: RehearsedStack, [memory = '', policy = '']: string[]) =>
  stack.redis(cache, 'CONFIG', 'SET', 'maxmemory', memory, 'maxmemory-policy', policy);

/** Faults with the number of state changes that each fault causes. Starting or stopping a relay causes two changes. */
const faults: [string, number, (stack: RehearsedStack) => Promise<unknown>][] = [
  ['cache-killed', 2, (stack) => stack.kill(cache).then(() => pause(1))],
  ['cache-hung', 2, (stack) => stack.hang(5, cache)],
  ['cache-slow', 4, (stack) => stack.relay(cache, { delay: 100 }, 5)],
  ['cache-sliced', 4, (stack) => stack.relay(cache, { slice: 3 }, 5)],
  ['cache-garbage', 4, (stack) => stack.relay(cache, { fault: 'garbage' }, 5)],
  ['cache-reset', 4, (stack) => stack.relay(cache, { fault: 'reset' }, 5)],
  ['cache-flushed', 2, (stack) => stack.redis(cache, 'FLUSHALL').then(() => pause(1))],
  [
    'cache-full',
    2,
    async (stack) => {
      await limit(stack, full);
      await pause(5);
      await limit(stack, usual);
    },
  ],
];

row.for(faults)('%s', async ([, often, fault], { stack, rehearse }) => {
  const seen = await rehearse(() => fault(stack));
  expect(seen.failed(['hot', 'miss'])).toBe('');
  expect(seen.slowest('miss')).toBeLessThan(8);
  expect(seen.lastSentThatFailed('ended')).toBeLessThan(2);
  const lines = (await stack.log('expander', seen.began)).filter((line) => changes.test(line));
  // Each replica logs a line about the connection and a line about the responses.
  expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(often * 2 * stack.replicas('expander'));
});
