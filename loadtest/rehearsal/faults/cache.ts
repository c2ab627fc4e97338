import { type Fault, hang, kill, lasting } from '../fault.ts';
import { answersWithin, noneFails, noneFailsLater } from '../judge.ts';
import type { Behaviour } from '../relay.ts';
import { pause } from '../until.ts';

/** What a replica of the expander says when its cache goes, or comes back. */
const changes = /redis is (?:away|back)|the cache in Redis (?:did not answer|answers again)/;

/** @param most lines for each replica: it goes and comes back, of which the connection and the answers each tell. */
const cacheFault = (id: string, fault: string, cause: Fault['cause'], most = 4): Fault => ({
  id,
  fault,
  promise:
    'Hot and new links are answered, new ones within 8 s; one log line for each change of state; normal within 2 s.',
  judges: [noneFails('hot', 'miss'), answersWithin(8, 'miss'), noneFailsLater('ended', 2)],
  async cause(stack, drill) {
    const since = new Date();
    await cause(stack, drill);
    await stack.settled();
    await pause(2);
    const said = (await stack.log('expander', since)).filter((line) => changes.test(line)).length;
    const replicas = (await stack.replicas('expander')).length;
    drill.notes.push(`${said} log lines`);
    if (said > most * replicas) drill.broken.push(`${said} log lines of ${replicas} replicas`);
  },
});

const relayed = (id: string, fault: string, behaviour: Behaviour) =>
  cacheFault(
    id,
    fault,
    lasting(5, (stack) => stack.relay('expander-cache', behaviour)),
    // It goes and comes back when the relay comes, and again when that goes.
    8,
  );

/** Faults of the expander's Redis. */
export const cacheFaults: Fault[] = [
  cacheFault('cache-killed', 'The cache is killed (SIGKILL)', lasting(1, kill('expander-cache'))),
  cacheFault('cache-hung', 'The cache hangs for 5 s (SIGSTOP)', lasting(5, hang('expander-cache'))),
  relayed('cache-slow', 'The cache answers 100 ms late', { delay: 100 }),
  relayed('cache-sliced', 'The answers of the cache arrive three bytes at a time', { slice: 3 }),
  relayed('cache-garbage', 'The cache answers with garbage', { answer: 'garbage' }),
  relayed('cache-reset', 'The cache resets every connection', { answer: 'reset' }),
  cacheFault(
    'cache-flushed',
    'The cache is flushed',
    lasting(1, async (stack) => {
      await stack.redis('expander-cache', 'FLUSHALL');
    }),
  ),
  cacheFault(
    'cache-full',
    'The cache is full and evicts nothing',
    lasting(5, async (stack) => {
      const set = (memory: string, policy: string) =>
        stack.redis('expander-cache', 'CONFIG', 'SET', 'maxmemory', memory, 'maxmemory-policy', policy);
      await set('1', 'noeviction');
      return () => set('64mb', 'allkeys-lfu');
    }),
  ),
];
