import type { Fault, Tested } from './fault.ts';
import { cacheFaults } from './faults/cache.ts';
import { damageFaults } from './faults/damage.ts';
import { proxyFaults } from './faults/proxy.ts';
import { serviceFaults } from './faults/services.ts';
import { storeFaults } from './faults/store.ts';
import { strangerFaults } from './faults/strangers.ts';

interface Group {
  title: string;
  faults: readonly Fault[];
}

/** What `make rehearse` causes, and what is promised. PROMISES.md is made of it. */
export const groups: readonly Group[] = [
  { title: 'Services and the proxy end', faults: serviceFaults },
  { title: 'The cache of the expander', faults: cacheFaults },
  { title: 'The store of the tasks', faults: storeFaults },
  { title: 'The file of the store', faults: damageFaults },
  { title: 'The proxy', faults: proxyFaults },
  { title: 'Hostile targets and clients', faults: strangerFaults },
];

export const faults: readonly Fault[] = groups.flatMap((group) => group.faults);

/** What the tests hold, because a running stack is no place for it. */
export const tested: readonly Tested[] = [
  {
    fault: 'Redis, or the service, crashes again and again in a storm of writes',
    promise: 'Every acknowledged task and change is there, and nothing that nobody wrote.',
    tests: ['tasks/src/redis/crash.test.ts', 'tasks/src/redis/durability.test.ts'],
  },
  {
    fault: 'The clock of one replica is an hour ahead, that of another an hour behind; both have one store',
    promise: 'Ids are unique and ordered, forms of one work at the other, nothing is lost.',
    tests: ['tasks/src/clock.test.ts'],
  },
  {
    fault: 'The service is killed, or told to stop, during an import or a clear',
    promise:
      'Killed: whole batches of lines are there, from the first on; what was cleared can be brought back, the rest is there. Told to stop: it ends what it does and acknowledges it.',
    tests: ['tasks/src/restart.test.ts'],
  },
  {
    fault: 'The configuration is invalid, ports are taken, the folder cannot be written',
    promise: 'One message names every fault, and the exit code is 78.',
    tests: ['deploy/native/main.test.ts', 'deploy/compose/up.test.ts', 'tasks/src/main.test.ts'],
  },
  {
    fault:
      'A crowd: 10,000 idle connections, 3,000 with unfinished headers, 1,000 event streams, 200 slow readers',
    promise: 'Others are unaffected, and the memory stays within its limits.',
    tests: ['proxy/suite/crowd.ts', 'proxy/memory.test.ts'],
  },
  {
    fault: 'A backup is restored',
    promise:
      'All tasks of the moment are there, `npm run repair` finds nothing; a damaged file changes nothing.',
    tests: ['deploy/backup.test.ts', 'proxy/suite/backup.ts'],
  },
  {
    fault: 'The reader of the log stalls',
    promise: 'Lines are dropped and counted; memory is bounded, and the exit is not delayed.',
    tests: ['shared/src/log.test.ts'],
  },
];
