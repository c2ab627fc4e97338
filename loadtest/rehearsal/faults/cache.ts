import {
  answersWithin,
  type Drill,
  type Fault,
  type Judge,
  noneFails,
  noneFailsLater,
  noRelay,
} from '../fault.ts';
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

/** A fault that lasts `seconds` and ends with the function that `begin` returns. */
async function last(
  stack: RehearsedStack,
  drill: Drill,
  seconds: number,
  begin: () => Promise<() => Promise<unknown>>,
): Promise<void> {
  const since = new Date();
  drill.begins();
  const restore = await begin();
  try {
    await pause(seconds);
  } finally {
    await restore();
    drill.ends();
  }
  await stack.settled();
  await pause(2);
  // It goes and it comes back: with a relay, each time the connection changes hands.
  await judgeLog(stack, drill, since, 4);
}

const relayed = (id: string, fault: string, behaviour: Behaviour): Fault => ({
  id,
  fault,
  promise,
  not: noRelay,
  judges,
  async cause(stack, drill) {
    const relay = async () => (await stack.relay?.('expander-cache', behaviour)) ?? (async () => {});
    await last(stack, drill, drill.rounds({ short: 2, long: 5 }), relay);
  },
});

/** Faults of the expander's Redis. */
export const cacheFaults: Fault[] = [
  {
    id: 'cache-killed',
    fault: 'The cache is killed (SIGKILL)',
    promise,
    short: true,
    judges,
    cause: (stack, drill) =>
      last(stack, drill, 1, async () => {
        const [cache = ''] = await stack.replicas('expander-cache');
        await stack.signal(cache, 'SIGKILL');
        return async () => {};
      }),
  },
  {
    id: 'cache-hung',
    fault: 'The cache hangs for 5 s (SIGSTOP)',
    promise,
    judges,
    cause: (stack, drill) =>
      last(stack, drill, drill.rounds({ short: 2, long: 5 }), async () => {
        const [cache = ''] = await stack.replicas('expander-cache');
        await stack.signal(cache, 'SIGSTOP');
        return () => stack.signal(cache, 'SIGCONT');
      }),
  },
  relayed('cache-slow', 'The cache answers 100 ms late', { delay: 100 }),
  relayed('cache-sliced', 'The answers of the cache arrive three bytes at a time', { slice: 3 }),
  relayed('cache-garbage', 'The cache answers with garbage', { answer: 'garbage' }),
  relayed('cache-reset', 'The cache resets every connection', { answer: 'reset' }),
  {
    id: 'cache-flushed',
    fault: 'The cache is flushed',
    promise,
    judges,
    cause: (stack, drill) =>
      last(stack, drill, 1, async () => {
        await stack.redis('expander-cache', 'FLUSHALL');
        return async () => {};
      }),
  },
  {
    id: 'cache-full',
    fault: 'The cache is full and evicts nothing',
    promise,
    judges,
    cause: (stack, drill) =>
      last(stack, drill, drill.rounds({ short: 2, long: 5 }), async () => {
        const set = async (memory: string, policy: string) => {
          await stack.redis(
            'expander-cache',
            'CONFIG',
            'SET',
            'maxmemory',
            memory,
            'maxmemory-policy',
            policy,
          );
        };
        await set('1', 'noeviction');
        return () => set('64mb', 'allkeys-lfu');
      }),
  },
];
