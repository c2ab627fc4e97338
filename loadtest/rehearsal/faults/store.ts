import type { RehearsedStack } from '../containers.ts';
import { type Fault, type Faults, lasting, signalled } from '../fault.ts';
import { answersWithin, backWithin, failsOnlyWith, noneFails, noneFailsLater } from '../judge.ts';
import { pause, until } from '../until.ts';

const inTime = [
  failsOnlyWith(503, 'read', 'write'),
  answersWithin(1.2, 'read', 'write'),
  noneFailsLater('ended', 2),
];

const outage = (cause: Fault['cause']): Fault => ({ judges: [noneFails('hot', 'miss'), ...inTime], cause });

/** Faults of the store of tasks. */
export const storeFaults: Faults = {
  'store-killed': outage(async (stack, drill) => {
    await signalled('KILL', 'tasks-store')(stack, drill);
    await storeAnswers(stack);
  }),
  'store-hung': outage(lasting(4, signalled('STOP', 'tasks-store'))),
  'store-restarted': outage(async (stack) => {
    await stack.terminate('tasks-store', await stack.first('tasks-store'));
    await storeAnswers(stack);
  }),
  'store-slow': {
    judges: [noneFails('hot', 'miss'), answersWithin(1.2, 'read', 'write'), noneFailsLater('ended', 2)],
    cause: lasting(4, (stack) => stack.relay('tasks-store', { delay: 100 })),
  },
  'store-out-of-memory': {
    judges: [noneFails('hot', 'miss', 'read'), ...inTime],
    cause: lasting(3, async (stack) => {
      const set = (memory: string) => stack.redis('tasks-store', 'CONFIG', 'SET', 'maxmemory', memory);
      await set('1');
      return () => set('256mb');
    }),
  },
  'store-disk-full': {
    judges: [
      noneFails('hot', 'miss'),
      failsOnlyWith(503, 'read', 'write'),
      backWithin(3, 'read'),
      noneFailsLater('ended', 15),
    ],
    async cause(stack, drill) {
      const seconds = 20;
      await stack.inside('tasks-store', 'cat /dev/zero >filler 2>/dev/null || true');
      await pause(seconds);
      await stack.inside('tasks-store', 'rm filler');
      drill.ended = Date.now();
      await pause(15);
      await stack.settled();
      const exits = await stack.exits('tasks-store', drill.began);
      const most = (await stack.replicas('tasks')).length * 2 * (1 + Math.floor(seconds / 12));
      drill.exits = exits.map(({ at }) => at);
      drill.notes.push(`Redis exited ${exits.length} times`);
      if (exits.length > most) drill.broken.push(`Redis exited ${exits.length} times, not ${most}`);
    },
  },
};

/** Waits until Redis has loaded its file. */
function storeAnswers(stack: RehearsedStack): Promise<void> {
  return until(async () => (await stack.redis('tasks-store', 'PING').catch(() => '')) === 'PONG', 30);
}
