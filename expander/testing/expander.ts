import { createLog } from '@longhand/shared/log.ts';
import { readConfig } from '../src/config.ts';
import { createExpander, type Outside } from '../src/expander.ts';

const log = createLog('expander', 'silent');

/** Creates an expander that may contact 127.0.0.0/8. It does not use Redis by default. */
export function testExpander(outside: Partial<Outside> = {}, env: Record<string, string> = {}) {
  return createExpander(readConfig({ EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8', ...env }), {
    log,
    ...outside,
  });
}
