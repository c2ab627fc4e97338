import * as causes from './causes.ts';
import type { Fault } from './fault.ts';
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

const { signalled, terminated } = causes;

type Cause = Omit<Fault, 'judges'>;

/** Faults of the expander's Redis. */
const cacheFault = (cause: Cause): Fault => ({
  judges: [noneFails('hot', 'miss'), answersWithin(8, 'miss'), noneFailsLater('ended', 2)],
  after: causes.loggedChanges(4),
  ...cause,
});
/** The cache goes and comes back when the relay comes, and again when the relay goes. */
const relayedCache = (behaviour: Behaviour): Fault =>
  cacheFault({
    begin: (stack) => stack.relay('expander-cache', behaviour),
    seconds: 5,
    after: causes.loggedChanges(8),
  });

const expansionsGoOn = noneFails('hot', 'miss');
const tasksAnswerInTime = [answersWithin(1.2, 'read', 'write'), noneFailsLater('ended', 2)];
const tasksRefuse = [failsOnlyWith(503, 'read', 'write'), ...tasksAnswerInTime];
const storeFault = (cause: Cause): Fault => ({ judges: [expansionsGoOn, ...tasksRefuse], ...cause });
const fileFault = (script: string): Fault => ({ quiet: true, judges: [], begin: causes.damaged(script) });
const othersAreAnswered = [noneFails(), slowedAtMost(2, 'hot', 'miss', 'read')];

/** What `make rehearse` causes, by the row of PROMISES.md that says what is promised, and in its order. */
export const faults: Readonly<Record<string, Fault>> = {
  'services-terminated': { judges: [noneFails()], begin: terminated(20, 'expander', 'tasks') },
  'proxy-terminated': { judges: [noneFailsLater('ended', 2)], begin: terminated(1, 'proxy') },
  'replica-killed': {
    judges: [lastFailsWithin(1)],
    begin: signalled('KILL', 'expander', 'tasks'),
    seconds: 3,
  },
  'replica-hung': {
    judges: [lastFailsWithin(3), answersWithin(4)],
    begin: signalled('STOP', 'expander', 'tasks'),
    seconds: 10,
    after: causes.wereKilled,
  },
  'replica-cut-off': {
    judges: [
      expansionsGoOn,
      lastFailsWithin(3),
      answersWithin(3, 'read', 'write'),
      answersWithin(11, 'hot', 'miss'),
    ],
    begin: causes.cutOff,
    seconds: 8,
  },

  'cache-killed': cacheFault({ begin: signalled('KILL', 'expander-cache'), seconds: 1 }),
  'cache-hung': cacheFault({ begin: signalled('STOP', 'expander-cache'), seconds: 5 }),
  'cache-slow': relayedCache({ delay: 100 }),
  'cache-sliced': relayedCache({ slice: 3 }),
  'cache-garbage': relayedCache({ answer: 'garbage' }),
  'cache-reset': relayedCache({ answer: 'reset' }),
  'cache-flushed': cacheFault({ begin: (stack) => stack.redis('expander-cache', 'FLUSHALL'), seconds: 1 }),
  'cache-full': cacheFault({ begin: causes.fillCache, seconds: 5 }),

  'store-killed': storeFault({ begin: causes.killStore }),
  'store-hung': storeFault({ begin: signalled('STOP', 'tasks-store'), seconds: 4 }),
  'store-restarted': storeFault({ begin: causes.restartStore }),
  'store-slow': {
    judges: [expansionsGoOn, ...tasksAnswerInTime],
    begin: (stack) => stack.relay('tasks-store', { delay: 100 }),
    seconds: 4,
  },
  'store-out-of-memory': {
    judges: [noneFails('hot', 'miss', 'read'), ...tasksRefuse],
    begin: causes.fillStore,
    seconds: 3,
  },
  'store-disk-full': {
    judges: [
      expansionsGoOn,
      failsOnlyWith(503, 'read', 'write'),
      backWithin(3, 'read'),
      noneFailsLater('ended', 15),
    ],
    begin: causes.fillDisk,
    seconds: 20,
    after: causes.storeExits(20),
  },

  'file-truncated': fileFault('truncate -s -9 "$(ls -S *.incr.aof | head -n 1)"'),
  'file-corrupt': fileFault(
    `f=$(ls -S *.incr.aof | head -n 1) && n=$(grep -abo '^\\*[0-9]' "$f" | tail -n 2 | head -n 1 | cut -d : -f 1) &&
     { head -c "$n" "$f"; printf nonsense; tail -c "+$((n + 1))" "$f"; } >new && cat new >"$f" && rm new`,
  ),
  'file-of-another-version': fileFault(
    'printf 9999 | dd of="$(ls *.base.rdb)" bs=1 seek=5 conv=notrunc 2>/dev/null',
  ),

  'proxy-killed': { judges: [noneFailsLater('began', 2)], begin: signalled('KILL', 'proxy'), seconds: 1 },
  'proxy-cache-lost': { judges: [noneFails()], begin: causes.emptyCaches, seconds: 3 },
  'proxy-cache-read-only': { judges: [noneFails()], begin: causes.lockCaches, seconds: 4 },
  'names-gone': { judges: [noneFails()], begin: (stack) => stack.loseNames(), seconds: 10 },

  'hostile-targets': { judges: othersAreAnswered, begin: causes.requestHostileTargets },
  'hostile-clients': { judges: othersAreAnswered, begin: causes.openHostileConnections, seconds: 8 },
  'smuggled-request': { judges: [noneFails()], begin: causes.smuggleRequests },
};
