import { answersWithin, type Fault, lastFailsWithin, noneFails, noneFailsLater } from '../fault.ts';
import { lasting } from '../lasting.ts';
import type { RehearsedStack, Service } from '../stack.ts';
import { pause } from '../until.ts';

const services = ['expander', 'tasks'] as const;

/** The first replica of each service. */
const eachFirst = async (stack: RehearsedStack): Promise<[Service, string][]> =>
  Promise.all(
    services.map(
      async (service): Promise<[Service, string]> => [service, (await stack.replicas(service))[0] ?? ''],
    ),
  );

const needsTwo = async (stack: RehearsedStack): Promise<string | undefined> => {
  const counts = await Promise.all(services.map(async (service) => (await stack.replicas(service)).length));
  return Math.min(...counts) < 2 ? 'each service needs two replicas' : undefined;
};

/** Services that end, with another replica beside them, and the proxy. */
export const serviceFaults: Fault[] = [
  {
    id: 'services-terminated',
    fault: 'SIGTERM to one of two replicas of each service, 20 times in turn (10 times on Kubernetes)',
    promise: 'No request fails; each exits with code 0 within 10 s.',
    short: true,
    unfit: needsTwo,
    async cause(stack, drill) {
      let longest = 0;
      drill.begins();
      // A pod sleeps for 10 s before it is told to end.
      const rounds = drill.rounds({ short: 1, long: stack.kind === 'kubernetes' ? 10 : 20 });
      for (let round = 0; round < rounds; round++) {
        for (const [service, replica] of await eachFirst(stack)) {
          const { how, seconds } = await stack.terminate(service, replica);
          longest = Math.max(longest, seconds);
          if (how !== 'code 0') drill.broken(`${service} exited with ${how}`);
          await stack.settled();
          // Docker restarts at once only what ran for 10 s.
          if (stack.kind === 'containers') await pause(drill.rounds({ short: 0, long: 5 }));
        }
      }
      drill.note(`exits after at most ${longest.toFixed(1)} s`);
      if (longest > 10) drill.broken(`an exit took ${longest.toFixed(1)} s`);
    },
    judges: [noneFails()],
  },
  {
    id: 'proxy-terminated',
    fault: 'The proxy is told to stop, as `make down` does, and starts again',
    promise:
      'It exits with code 0 within 10 s; requests are refused only until it is back, 2 s after its exit.',
    async cause(stack, drill) {
      const [proxy = ''] = await stack.replicas('proxy');
      drill.begins();
      const { how, seconds } = await stack.terminate('proxy', proxy);
      drill.note(`exit after ${seconds.toFixed(1)} s`);
      if (how !== 'code 0' || seconds > 10) drill.broken(`it exited with ${how} after ${seconds} s`);
    },
    judges: [noneFailsLater('ended', 2)],
  },
  {
    id: 'replica-killed',
    fault: 'One of two replicas of each service is killed (SIGKILL)',
    promise: 'Only its requests in flight fail, none later than 1 s.',
    short: true,
    unfit: needsTwo,
    cause: lasting(3, async (stack) => {
      for (const [, replica] of await eachFirst(stack)) await stack.signal(replica, 'SIGKILL');
    }),
    judges: [lastFailsWithin(1)],
  },
  {
    id: 'replica-hung',
    fault: 'One of two replicas of each service hangs (SIGSTOP)',
    promise:
      'It is killed and starts again; only its requests in flight fail, none later than 3 s; the other replica answers the rest within 4 s.',
    unfit: needsTwo,
    async cause(stack, drill) {
      const replicas = await eachFirst(stack);
      const since = new Date();
      drill.begins();
      for (const [, replica] of replicas) await stack.signal(replica, 'SIGSTOP');
      await pause(drill.rounds({ short: 5, long: 10 }));
      drill.ends();
      await stack.settled();
      for (const service of services) {
        const [at] = await stack.exits(service, since);
        if (at) drill.note(`${service} was killed after ${((at - since.getTime()) / 1_000).toFixed(1)} s`);
      }
    },
    judges: [lastFailsWithin(3), answersWithin(4)],
  },
  {
    id: 'replica-cut-off',
    fault: 'One of two replicas of each service loses its network for 8 s',
    promise:
      'Only pages and writes that it has fail, none later than 3 s; the other replica answers the rest within 3 s, and its links within 11 s.',
    only: 'containers',
    unfit: needsTwo,
    cause: lasting(8, async (stack, drill) => {
      const replicas = await eachFirst(stack);
      drill.begins();
      const back = await Promise.all(replicas.map(([service, replica]) => stack.cutOff?.(service, replica)));
      return () => Promise.all(back.map((restore) => restore?.()));
    }),
    judges: [
      noneFails('hot', 'miss'),
      lastFailsWithin(3),
      answersWithin(3, 'read', 'write'),
      answersWithin(11, 'hot', 'miss'),
    ],
  },
];
