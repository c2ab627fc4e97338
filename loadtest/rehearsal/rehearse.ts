import type { K6 } from '../k6.ts';
import { watchAlerts } from './alerts.ts';
import { type Drill, type Fault, tally } from './fault.ts';
import { type Ledger, settleAccounts } from './ledger.ts';
import { type Request, startLoad } from './load.ts';
import type { RehearsedStack } from './stack.ts';
import { pause } from './until.ts';

/** What became of one row. */
export interface Result {
  fault: Fault;
  /** Why it was not rehearsed. */
  skipped?: string;
  /** How its promise was broken; empty if it was kept. */
  broken: string[];
  notes: string[];
  requests: number;
  /** Which requests failed, as a sentence, and how many. */
  failures: string;
  failed: number;
  /** Seconds from the begin of the fault to the end of the last request that failed. */
  recovery: number;
  ledger: Ledger;
  /** Alerts that fired, with the seconds since the fault began. */
  alerts: string[];
}

const nothing = { requests: 0, failures: '', failed: 0, recovery: 0, alerts: [] };
const empty: Ledger = { acknowledged: 0, lost: [], doubled: [] };

/** Seconds of load before a fault, and after it. */
const margins = { short: { before: 1, after: 2 }, long: { before: 2, after: 3 } };

export interface RehearsalOptions {
  k6: K6;
  stack: RehearsedStack;
  /** The short form, for tests. */
  short: boolean;
}

const unsettled = (stack: RehearsedStack): Promise<string | undefined> =>
  (stack.renew?.() ?? stack.settled()).then(
    () => undefined,
    (error: Error) => `the stack, before this row, ${error.message}`,
  );

/** Rehearses one row: load, fault, recovery, and the account of what was acknowledged. */
export async function rehearse(fault: Fault, { k6, stack, short }: RehearsalOptions): Promise<Result> {
  const skipped =
    fault.only && fault.only !== stack.kind
      ? `only in ${fault.only}`
      : (fault.not?.[stack.kind] ?? (await fault.unfit?.(stack)) ?? (await unsettled(stack)));
  const result: Result = { fault, broken: [], notes: [], ledger: empty, ...nothing };
  if (skipped) return { ...result, skipped };

  const observed = { requests: [] as Request[], began: 0, ended: 0, exits: [] as readonly number[] };
  const drill: Drill = {
    rounds: (counts) => counts[short ? 'short' : 'long'],
    begins() {
      observed.began = Date.now();
    },
    ends() {
      observed.ended = Date.now();
    },
    exits(times) {
      observed.exits = times;
    },
    note: (text) => result.notes.push(text),
    broken: (sentence) => result.broken.push(sentence),
  };
  const margin = margins[short ? 'short' : 'long'];
  const load = fault.quiet ? undefined : await startLoad(k6, stack, margin.before);
  const alerts = watchAlerts();
  const failed = await fault.cause(stack, drill).then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (failed) result.broken.push(failed);
  if (observed.ended < observed.began) drill.ends();
  await stack.settled().catch((error: Error) => result.broken.push(`it ${error.message}`));
  if (load) await pause(margin.after);
  if (load) observed.requests = await load.end();
  const { requests, began } = observed;
  for (const judge of fault.judges) {
    const sentence = judge(observed);
    if (sentence) result.broken.push(sentence);
  }
  // A stack that does not come back cannot say what it has, and the rows after this one are still to be reported.
  const ledger = load
    ? await settleAccounts(stack.urls.tasks, load.run, requests).catch((error: Error) => {
        result.broken.push(`the tasks cannot be listed: ${error.message}`);
        return empty;
      })
    : empty;
  if (ledger.lost.length > 0) result.broken.push(`lost: ${ledger.lost.slice(0, 5).join(', ')}`);
  if (ledger.doubled.length > 0) result.broken.push(`twice: ${ledger.doubled.slice(0, 5).join(', ')}`);
  const failures = requests.filter(({ right, at }) => !right && at >= began);
  return {
    ...result,
    ledger,
    requests: requests.length,
    failed: failures.length,
    failures: tally(failures),
    recovery: failures.length > 0 ? ((failures.at(-1)?.at ?? 0) - began) / 1_000 : 0,
    alerts: await alerts.stop(began),
  };
}
