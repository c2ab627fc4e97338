import { Counter, Gauge, type Registry } from 'prom-client';
import type { CacheResult } from './cache/entry.ts';
import type { End, Expansion, Trace } from './expansion/expansion.ts';
import { soon } from './expansion/soon.ts';
import type { Guard } from './guard/public-address.ts';

/** The caches that are counted. */
type Tier = 'memory' | 'redis';

/** What the expander counts of its own, registered in `registry`. */
export function createExpanderMetrics(registry: Registry) {
  const registers = [registry];
  // Counted in plain numbers, which the report adds up: a counter checks and hashes its labels each time.
  const answers: Partial<Record<Tier, Record<CacheResult, number>>> = {};
  const ends: Partial<Record<End['code'], number>> = {};
  new Counter({
    name: 'expander_cache_answers_total',
    help: 'Answers of the caches, by tier (memory, redis) and result (hit, miss, failed).',
    labelNames: ['tier', 'result'],
    registers,
    collect() {
      this.reset();
      for (const [tier, results] of Object.entries(answers))
        for (const [result, count] of Object.entries(results)) this.inc({ tier, result }, count);
    },
  });
  new Counter({
    name: 'expander_expansions_total',
    help: 'Expansions that were answered, remembered ones included, by the code of their end.',
    labelNames: ['end'],
    registers,
    collect() {
      this.reset();
      for (const [end, count] of Object.entries(ends)) this.inc({ end }, count);
    },
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
  const lookups = new Gauge({
    name: 'expander_lookups_in_flight',
    help: 'Names that are being looked up or wait for it.',
    registers,
  });

  const countedEnd = (expansion: Expansion) => {
    const { code } = expansion.end;
    ends[code] = (ends[code] ?? 0) + 1;
    return expansion;
  };

  return {
    inFlight,
    lookups,
    /** Counts the answers of one tier, which all stand in the report from the start. */
    cacheAnswers(tier: Tier): (result: CacheResult) => void {
      const results = { hit: 0, miss: 0, failed: 0 };
      answers[tier] = results;
      return (result) => {
        results[result] += 1;
      };
    },
    /** Counts how expansions end. */
    countedEnds(trace: Trace): Trace {
      return (url, options) => soon(trace(url, options), countedEnd);
    },
    countedEnd,
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
