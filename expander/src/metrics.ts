import { Counter, Gauge, type Registry } from 'prom-client';
import type { Trace } from './expansion.ts';
import type { Guard } from './public-address.ts';

/** What became of a question to a cache. */
export type CacheResult = 'hit' | 'miss' | 'failed';

/** The caches that are counted. */
type Tier = 'memory' | 'redis';

/** What the expander counts of its own, registered in `registry`. */
export function createExpanderMetrics(registry: Registry) {
  const registers = [registry];
  const cacheAnswers = new Counter({
    name: 'expander_cache_answers_total',
    help: 'Answers of the caches, by tier (memory, redis) and result (hit, miss, failed).',
    labelNames: ['tier', 'result'],
    registers,
  });
  const expansions = new Counter({
    name: 'expander_expansions_total',
    help: 'Expansions that were answered, remembered ones included, by the code of their end.',
    labelNames: ['end'],
    registers,
  });
  const targetsRefused = new Counter({
    name: 'expander_targets_refused_total',
    help: 'Targets that the public-address guard did not let be contacted.',
    registers,
  });
  const inFlight = new Gauge({
    name: 'expander_expansions_in_flight',
    help: 'Expansions under way that no memory answered.',
    registers,
  });

  return {
    inFlight,
    /** Counts the answers of one tier, which all stand in the report from the start. */
    cacheAnswers(tier: Tier): (result: CacheResult) => void {
      for (const result of ['hit', 'miss', 'failed']) cacheAnswers.inc({ tier, result }, 0);
      return (result) => cacheAnswers.inc({ tier, result });
    },
    /** Counts how expansions end. */
    countedEnds(trace: Trace): Trace {
      return async (url, options) => {
        const expansion = await trace(url, options);
        expansions.inc({ end: expansion.end.code });
        return expansion;
      };
    },
    /** Counts what a guard refuses. */
    countedRefusals({ checkUrl, checkAddresses }: Guard): Guard {
      const counted =
        <Arguments extends unknown[]>(check: (...given: Arguments) => void) =>
        (...given: Arguments) => {
          try {
            check(...given);
          } catch (refusal) {
            targetsRefused.inc();
            throw refusal;
          }
        };
      return { checkUrl: counted(checkUrl), checkAddresses: counted(checkAddresses) };
    },
  };
}
