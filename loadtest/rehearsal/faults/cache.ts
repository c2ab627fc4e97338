import { type Fault, type Faults, lasting, signalled } from '../fault.ts';
import { answersWithin, noneFails, noneFailsLater } from '../judge.ts';
import type { Behaviour } from '../relay.ts';
import { pause } from '../until.ts';

/** What a replica of the expander logs when its cache goes, or comes back. */
const changes = /redis is (?:away|back)|the cache in Redis (?:did not answer|answers again)/;

/** @param most lines for each replica: the connection and the responses each say that the cache goes, and comes back. */
const cacheFault = (cause: Fault['cause'], most = 4): Fault => ({
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

const relayed = (behaviour: Behaviour) =>
  cacheFault(
    lasting(5, (stack) => stack.relay('expander-cache', behaviour)),
    // The cache goes and comes back when the relay comes, and again when the relay goes.
    8,
  );

/** Faults of the expander's Redis. */
export const cacheFaults: Faults = {
  'cache-killed': cacheFault(lasting(1, signalled('KILL', 'expander-cache'))),
  'cache-hung': cacheFault(lasting(5, signalled('STOP', 'expander-cache'))),
  'cache-slow': relayed({ delay: 100 }),
  'cache-sliced': relayed({ slice: 3 }),
  'cache-garbage': relayed({ answer: 'garbage' }),
  'cache-reset': relayed({ answer: 'reset' }),
  'cache-flushed': cacheFault(
    lasting(1, async (stack) => {
      await stack.redis('expander-cache', 'FLUSHALL');
    }),
  ),
  'cache-full': cacheFault(
    lasting(5, async (stack) => {
      const set = (memory: string, policy: string) =>
        stack.redis('expander-cache', 'CONFIG', 'SET', 'maxmemory', memory, 'maxmemory-policy', policy);
      await set('1', 'noeviction');
      return () => set('64mb', 'allkeys-lfu');
    }),
  ),
};
