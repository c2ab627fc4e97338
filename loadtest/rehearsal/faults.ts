import * as causes from './causes.ts';
import { type Cause, type Fault, lasting, signalled } from './fault.ts';
import {
  answersWithin,
  backWithin,
  failsOnlyWith,
  lastFailsWithin,
  noneFails,
  noneFailsLater,
  slowedAtMost,
} from './judge.ts';
import type { Behaviour } from './relay.ts';

/** Faults of the expander's Redis. `lines` is what a replica may log of them. */
const cacheFault = (cause: Cause, lines?: number): Fault => ({
  judges: [noneFails('hot', 'miss'), answersWithin(8, 'miss'), noneFailsLater('ended', 2)],
  cause: causes.watchCacheLog(cause, lines),
});
/** The cache goes and comes back when the relay comes, and again when the relay goes. */
const relayedCache = (behaviour: Behaviour) =>
  cacheFault(
    lasting(5, (stack) => stack.relay('expander-cache', behaviour)),
    8,
  );

const expansionsGoOn = noneFails('hot', 'miss');
const tasksAnswerInTime = [answersWithin(1.2, 'read', 'write'), noneFailsLater('ended', 2)];
const tasksRefuse = [failsOnlyWith(503, 'read', 'write'), ...tasksAnswerInTime];
const storeFault = (cause: Cause): Fault => ({ judges: [expansionsGoOn, ...tasksRefuse], cause });
const fileFault = (script: string): Fault => ({ quiet: true, judges: [], cause: causes.damaged(script) });
const strangerFault = (cause: Cause): Fault => ({
  judges: [noneFails(), slowedAtMost(2, 'hot', 'miss', 'read')],
  cause,
});

/** What `make rehearse` causes, by the row of PROMISES.md that says what is promised, and in its order. */
export const faults: Readonly<Record<string, Fault>> = {
  'services-terminated': { judges: [noneFails()], cause: causes.terminateServices },
  'proxy-terminated': { judges: [noneFailsLater('ended', 2)], cause: causes.terminateProxy },
  'replica-killed': {
    judges: [lastFailsWithin(1)],
    cause: lasting(3, signalled('KILL', 'expander', 'tasks')),
  },
  'replica-hung': { judges: [lastFailsWithin(3), answersWithin(4)], cause: causes.hangReplicas },
  'replica-cut-off': {
    judges: [
      expansionsGoOn,
      lastFailsWithin(3),
      answersWithin(3, 'read', 'write'),
      answersWithin(11, 'hot', 'miss'),
    ],
    cause: lasting(8, causes.cutOff),
  },

  'cache-killed': cacheFault(lasting(1, signalled('KILL', 'expander-cache'))),
  'cache-hung': cacheFault(lasting(5, signalled('STOP', 'expander-cache'))),
  'cache-slow': relayedCache({ delay: 100 }),
  'cache-sliced': relayedCache({ slice: 3 }),
  'cache-garbage': relayedCache({ answer: 'garbage' }),
  'cache-reset': relayedCache({ answer: 'reset' }),
  'cache-flushed': cacheFault(lasting(1, (stack) => stack.redis('expander-cache', 'FLUSHALL'))),
  'cache-full': cacheFault(lasting(5, causes.fillCache)),

  'store-killed': storeFault(async (stack, drill) => {
    await signalled('KILL', 'tasks-store')(stack, drill);
    await causes.storeAnswers(stack);
  }),
  'store-hung': storeFault(lasting(4, signalled('STOP', 'tasks-store'))),
  'store-restarted': storeFault(async (stack) => {
    await stack.terminate('tasks-store', await stack.first('tasks-store'));
    await causes.storeAnswers(stack);
  }),
  'store-slow': {
    judges: [expansionsGoOn, ...tasksAnswerInTime],
    cause: lasting(4, (stack) => stack.relay('tasks-store', { delay: 100 })),
  },
  'store-out-of-memory': {
    judges: [noneFails('hot', 'miss', 'read'), ...tasksRefuse],
    cause: lasting(3, causes.fillStore),
  },
  'store-disk-full': {
    judges: [
      expansionsGoOn,
      failsOnlyWith(503, 'read', 'write'),
      backWithin(3, 'read'),
      noneFailsLater('ended', 15),
    ],
    cause: causes.fillDisk,
  },

  'file-truncated': fileFault('truncate -s -9 "$(ls -S *.incr.aof | head -n 1)"'),
  'file-corrupt': fileFault(
    `f=$(ls -S *.incr.aof | head -n 1) && n=$(grep -abo '^\\*[0-9]' "$f" | tail -n 2 | head -n 1 | cut -d : -f 1) &&
     { head -c "$n" "$f"; printf nonsense; tail -c "+$((n + 1))" "$f"; } >new && cat new >"$f" && rm new`,
  ),
  'file-of-another-version': fileFault(
    'printf 9999 | dd of="$(ls *.base.rdb)" bs=1 seek=5 conv=notrunc 2>/dev/null',
  ),

  'proxy-killed': { judges: [noneFailsLater('began', 2)], cause: lasting(1, signalled('KILL', 'proxy')) },
  'proxy-cache-lost': { judges: [noneFails()], cause: lasting(3, causes.emptyCaches) },
  'proxy-cache-read-only': { judges: [noneFails()], cause: lasting(4, causes.lockCaches) },
  'names-gone': { judges: [noneFails()], cause: lasting(10, (stack) => stack.loseNames()) },

  'hostile-targets': strangerFault(causes.requestHostileTargets),
  'hostile-clients': strangerFault(causes.openHostileConnections),
  'smuggled-request': { judges: [noneFails()], cause: causes.smuggleRequests },
};
