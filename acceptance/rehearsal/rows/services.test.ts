import { expect } from 'vitest';
import { pause, type RehearsedStack, type Service } from '../containers.ts';
import { type Drill, row } from '../rehearse.ts';

const services = ['expander', 'tasks'] as const;

/** Terminates services in turn, `rounds` times each, and waits for their restart. */
async function terminate(stack: RehearsedStack, drill: Drill, rounds: number, ...some: readonly Service[]) {
  for (let round = 0; round < rounds; round++) {
    for (const service of some) {
      const { code, seconds } = await stack.terminate(service);
      drill.ended = Date.now();
      expect(code, service).toBe('0');
      expect(seconds, service).toBeLessThan(10);
      await stack.settled();
      // Docker delays the restart of a container that ran for less than 10 s.
      await pause(5);
    }
  }
}

row('services-terminated', async ({ stack, rehearse }) => {
  expect((await rehearse((drill) => terminate(stack, drill, 20, ...services))).failed()).toBe('');
});

row('proxy-terminated', async ({ stack, rehearse }) => {
  const seen = await rehearse((drill) => terminate(stack, drill, 1, 'proxy'));
  expect(seen.lastSentThatFailed('ended')).toBeLessThan(2);
});

row('replica-killed', async ({ stack, rehearse }) => {
  const seen = await rehearse(async (drill) => {
    drill.began = await stack.kill(...services);
    await pause(3);
  });
  expect(seen.lastFailed()).toBeLessThan(1);
});

row('replica-hung', async ({ stack, rehearse }) => {
  const seen = await rehearse(() => stack.hang(10, ...services));
  expect(seen.lastFailed()).toBeLessThan(3);
  expect(seen.slowest()).toBeLessThan(4);
  for (const service of services) expect(await stack.exits(service, seen.began)).toHaveLength(1);
});

row('replica-cut-off', async ({ stack, rehearse }) => {
  const seen = await rehearse(() => stack.cutOff(8, ...services));
  expect(seen.failed(['hot', 'miss'])).toBe('');
  expect(seen.lastFailed()).toBeLessThan(3);
  expect(seen.slowest('read', 'write')).toBeLessThan(3);
  expect(seen.slowest('hot', 'miss')).toBeLessThan(11);
});

const emptyCache = 'rm -rf responses/*';

row('proxy-killed', async ({ stack, rehearse }) => {
  const seen = await rehearse(async (drill) => {
    drill.began = await stack.kill('proxy');
    await pause(1);
  });
  expect(seen.lastSentThatFailed('began')).toBeLessThan(2);
});

row.for<[string, (stack: RehearsedStack) => Promise<unknown>]>([
  ['proxy-cache-lost', (stack) => stack.inside('proxy', emptyCache).then(() => pause(3))],
  [
    'proxy-cache-read-only',
    async (stack) => {
      await stack.inside('proxy', `${emptyCache}; chmod 500 responses`);
      await pause(4);
      await stack.inside('proxy', 'chmod 700 responses');
    },
  ],
  ['names-gone', (stack) => stack.loseNames(10)],
])('%s', async ([, fault], { stack, rehearse }) => {
  expect((await rehearse(() => fault(stack))).failed()).toBe('');
});
