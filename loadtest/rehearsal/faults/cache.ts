import {
  answersWithin,
  type Drill,
  type Fault,
  type Judge,
  noneFails,
  noneFailsLater,
  noRelay,
} from '../fault.ts';
import { type Begin, hang, kill, lasting } from '../lasting.ts';
import type { Behaviour } from '../relay.ts';
import type { RehearsedStack } from '../stack.ts';
import { pause } from '../until.ts';

const promise =
  'Hot and new links are answered, new ones within 8 s; one log line for each change of state; normal within 2 s.';
const judges: Judge[] = [noneFails('hot', 'miss'), answersWithin(8, 'miss'), noneFailsLater('ended', 2)];

/** What a replica of the expander says when its cache goes, or comes back. */
const changes = /redis is (?:away|back)|the cache in Redis (?:did not answer|answers again)/;

/** Notes the lines about the cache, of which each replica may write `most`. */
async function judgeLog(stack: RehearsedStack, drill: Drill, since: Date, most: number): Promise<void> {
  const lines = await stack.log('expander', since);
  if (!lines) return drill.note('the log was not read: it is on the terminal of `make up`');
  const said = lines.filter((line) => changes.test(line)).length;
  const replicas = (await stack.replicas('expander')).length;
  drill.note(`${said} log lines`);
  if (said > most * replicas) drill.broken(`${said} log lines of ${replicas} replicas`);
}

/** A fault of the cache that lasts `seconds`, in a short rehearsal at most two. */
const cacheFault = (id: string, fault: string, seconds: number, begin: Begin): Fault => ({
  id,
  fault,
  promise,
  judges,
  async cause(stack, drill) {
    const since = new Date();
    await lasting(drill.rounds({ short: Math.min(2, seconds), long: seconds }), begin)(stack, drill);
    await stack.settled();
    await pause(2);
    // It goes and it comes back: with a relay, each time the connection changes hands.
    await judgeLog(stack, drill, since, 4);
  },
});

const relayed = (id: string, fault: string, behaviour: Behaviour): Fault => ({
  ...cacheFault(id, fault, 5, async (stack) => stack.relay?.('expander-cache', behaviour)),
  not: noRelay,
});

/** Faults of the expander's Redis. */
export const cacheFaults: Fault[] = [
  {
    ...cacheFault('cache-killed', 'The cache is killed (SIGKILL)', 1, kill('expander-cache')),
    short: true,
  },
  cacheFault('cache-hung', 'The cache hangs for 5 s (SIGSTOP)', 5, hang('expander-cache')),
  relayed('cache-slow', 'The cache answers 100 ms late', { delay: 100 }),
  relayed('cache-sliced', 'The answers of the cache arrive three bytes at a time', { slice: 3 }),
  relayed('cache-garbage', 'The cache answers with garbage', { answer: 'garbage' }),
  relayed('cache-reset', 'The cache resets every connection', { answer: 'reset' }),
  cacheFault('cache-flushed', 'The cache is flushed', 1, async (stack) => {
    await stack.redis('expander-cache', 'FLUSHALL');
  }),
  cacheFault('cache-full', 'The cache is full and evicts nothing', 5, async (stack) => {
    const set = async (memory: string, policy: string) => {
      const settings = ['maxmemory', memory, 'maxmemory-policy', policy];
      await stack.redis('expander-cache', 'CONFIG', 'SET', ...settings);
    };
    await set('1', 'noeviction');
    return () => set('64mb', 'allkeys-lfu');
  }),
];
