import type { RehearsedStack } from '../containers.ts';
import { type Drill, type Fault, lasting } from '../fault.ts';
import { answersWithin, lastFailsWithin, noneFails, noneFailsLater } from '../judge.ts';
import { pause } from '../until.ts';

const services = ['expander', 'tasks'] as const;

/** The first replica of each service. The fault begins now. */
async function firsts(stack: RehearsedStack, drill: Drill): Promise<string[]> {
  const replicas = await Promise.all(services.map((service) => stack.first(service)));
  drill.began = Date.now();
  return replicas;
}

/** Services that end, with another replica beside them, and the proxy. */
export const serviceFaults: Fault[] = [
  {
    id: 'services-terminated',
    fault: 'SIGTERM to one of two replicas of each service, 20 times in turn',
    promise: 'No request fails; each exits with code 0 within 10 s.',
    judges: [noneFails()],
    async cause(stack, drill) {
      let longest = 0;
      for (let round = 0; round < 20; round++) {
        for (const service of services) {
          const { code, seconds } = await stack.terminate(service, await stack.first(service));
          longest = Math.max(longest, seconds);
          if (code !== '0') drill.broken.push(`${service} exited with code ${code}`);
          await stack.settled();
          // Docker restarts at once only what ran for 10 s.
          await pause(5);
        }
      }
      drill.notes.push(`exits after at most ${longest.toFixed(1)} s`);
      if (longest > 10) drill.broken.push(`an exit took ${longest.toFixed(1)} s`);
    },
  },
  {
    id: 'proxy-terminated',
    fault: 'The proxy is told to stop, as `make down` does, and starts again',
    promise:
      'It exits with code 0 within 10 s; requests are refused only until it is back, 2 s after its exit.',
    judges: [noneFailsLater('ended', 2)],
    async cause(stack, drill) {
      const { code, seconds } = await stack.terminate('proxy', await stack.first('proxy'));
      drill.notes.push(`exit after ${seconds.toFixed(1)} s`);
      if (code !== '0' || seconds > 10) drill.broken.push(`it exited with code ${code} after ${seconds} s`);
    },
  },
  {
    id: 'replica-killed',
    fault: 'One of two replicas of each service is killed (SIGKILL)',
    promise: 'Only its requests in flight fail, none later than 1 s.',
    judges: [lastFailsWithin(1)],
    cause: lasting(3, async (stack, drill) => {
      const replicas = await firsts(stack, drill);
      await Promise.all(replicas.map((replica) => stack.signal(replica, 'KILL')));
    }),
  },
  {
    id: 'replica-hung',
    fault: 'One of two replicas of each service hangs (SIGSTOP)',
    promise:
      'It is killed and starts again; only its requests in flight fail, none later than 3 s; the other replica answers the rest within 4 s.',
    judges: [lastFailsWithin(3), answersWithin(4)],
    async cause(stack, drill) {
      for (const replica of await firsts(stack, drill)) await stack.signal(replica, 'STOP');
      await pause(10);
      drill.ended = Date.now();
      await stack.settled();
      for (const service of services) {
        const [exit] = await stack.exits(service, drill.began);
        if (exit)
          drill.notes.push(`${service} was killed after ${((exit.at - drill.began) / 1_000).toFixed(1)} s`);
        else drill.broken.push(`${service} was not killed`);
      }
    },
  },
  {
    id: 'replica-cut-off',
    fault: 'One of two replicas of each service loses its network for 8 s',
    promise:
      'Only pages and writes that it has fail, none later than 3 s; the other replica answers the rest within 3 s, and its links within 11 s.',
    judges: [
      noneFails('hot', 'miss'),
      lastFailsWithin(3),
      answersWithin(3, 'read', 'write'),
      answersWithin(11, 'hot', 'miss'),
    ],
    cause: lasting(8, async (stack, drill) => {
      const replicas = await firsts(stack, drill);
      const back = await Promise.all(services.map((service, i) => stack.cutOff(service, replicas[i] ?? '')));
      return () => Promise.all(back.map((restore) => restore()));
    }),
  },
];
