import { expect } from 'vitest';
import { pause, type RehearsedStack } from '../containers.ts';
import { row } from '../rehearse.ts';

const emptyCaches = 'rm -rf answers/*';

row('proxy-killed', async ({ stack, rehearse }) => {
  const seen = await rehearse(async (drill) => {
    drill.began = await stack.kill('proxy');
    await pause(1);
  });
  expect(seen.lastSentThatFailed('began')).toBeLessThan(2);
});

row.for<[string, (stack: RehearsedStack) => Promise<unknown>]>([
  ['proxy-cache-lost', (stack) => stack.inside('proxy', emptyCaches).then(() => pause(3))],
  [
    'proxy-cache-read-only',
    async (stack) => {
      await stack.inside('proxy', `${emptyCaches}; chmod 500 answers`);
      await pause(4);
      await stack.inside('proxy', 'chmod 700 answers');
    },
  ],
  ['names-gone', (stack) => stack.loseNames(10)],
])('%s', async ([, fault], { stack, rehearse }) => {
  expect((await rehearse(() => fault(stack))).failed()).toBe('');
});
