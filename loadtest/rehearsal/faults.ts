import type { Faults } from './fault.ts';
import { cacheFaults } from './faults/cache.ts';
import { damageFaults } from './faults/damage.ts';
import { proxyFaults } from './faults/proxy.ts';
import { serviceFaults } from './faults/services.ts';
import { storeFaults } from './faults/store.ts';
import { strangerFaults } from './faults/strangers.ts';

/** What `make rehearse` causes, in the order of PROMISES.md. */
export const faults: Faults = {
  ...serviceFaults,
  ...cacheFaults,
  ...storeFaults,
  ...damageFaults,
  ...proxyFaults,
  ...strangerFaults,
};
