import type { RehearsedStack } from '../containers.ts';
import { type Fault, hang, kill, lasting } from '../fault.ts';
import { answersWithin, backWithin, failsOnlyWith, noneFails, noneFailsLater } from '../judge.ts';
import { pause, until } from '../until.ts';

const inTime = [
  failsOnlyWith(503, 'read', 'write'),
  answersWithin(1.2, 'read', 'write'),
  noneFailsLater('ended', 2),
];

const outage = (id: string, fault: string, cause: Fault['cause']): Fault => ({
  id,
  fault,
  promise:
    'Pages and writes are answered, or are 503 within 1.2 s; nothing acknowledged is lost; normal within 2 s, without a restart.',
  judges: [noneFails('hot', 'miss'), ...inTime],
  cause,
});

/** Faults of the store of tasks. */
export const storeFaults: Fault[] = [
  outage('store-killed', 'The store is killed (SIGKILL)', async (stack, drill) => {
    await kill('tasks-store')(stack, drill);
    await storeAnswers(stack);
  }),
  outage('store-hung', 'The store hangs for 4 s (SIGSTOP)', lasting(4, hang('tasks-store'))),
  outage('store-restarted', 'The store is restarted (SIGTERM)', async (stack) => {
    await stack.terminate('tasks-store', await stack.first('tasks-store'));
    await storeAnswers(stack);
  }),
  {
    id: 'store-slow',
    fault: 'The store answers 100 ms late',
    promise: 'Every page and every write is answered within 1.2 s.',
    judges: [noneFails('hot', 'miss'), answersWithin(1.2, 'read', 'write'), noneFailsLater('ended', 2)],
    cause: lasting(4, (stack) => stack.relay('tasks-store', { delay: 100 })),
  },
  {
    id: 'store-out-of-memory',
    fault: 'The store has reached its `maxmemory`',
    promise: 'Pages go on; writes are 503 within 1.2 s; nothing acknowledged is lost; normal within 2 s.',
    judges: [noneFails('hot', 'miss', 'read'), ...inTime],
    cause: lasting(3, async (stack) => {
      const set = (memory: string) => stack.redis('tasks-store', 'CONFIG', 'SET', 'maxmemory', memory);
      await set('1');
      return () => set('256mb');
    }),
  },
  {
    id: 'store-disk-full',
    fault: 'The disk of the store is full for 20 s',
    promise:
      'Nothing acknowledged is lost; writes are 503; pages are back within 3 s of each exit of Redis, of which each replica of tasks causes at most two in 12 s; saving works again within 15 s of there being room.',
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
];

/** Waits until Redis has loaded its file. */
function storeAnswers(stack: RehearsedStack): Promise<void> {
  return until(async () => (await stack.redis('tasks-store', 'PING').catch(() => '')) === 'PONG', 30);
}
