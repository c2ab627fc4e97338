import type { RehearsedStack } from './containers.ts';
import type { Drill, Fault } from './fault.ts';
import { tally } from './judge.ts';
import { settleAccounts } from './ledger.ts';
import { startLoad } from './load.ts';
import { pause } from './until.ts';

/** Seconds of load before a fault, and after it. */
const margin = { before: 2, after: 3 };

/** Rehearses one row: load, fault, recovery, and a search for every acknowledged task. */
export async function rehearse(fault: Fault, stack: RehearsedStack): Promise<Drill> {
  const drill: Drill = { requests: [], began: 0, ended: 0, exits: [], notes: [], broken: [] };
  /** Reports a fault that cannot be caused or undone, so that the rows after it still run. */
  const attempt = <Value>(action: Promise<Value>, words = ''): Promise<Value | undefined> =>
    action.catch((error: Error) => {
      drill.broken.push(`${words}${error.message}`);
      return undefined;
    });

  await attempt(stack.settled(), 'the stack, before this row, ');
  const load = fault.quiet ? undefined : await attempt(startLoad(stack, margin.before));
  drill.began = Date.now();
  const undo = await attempt(fault.begin(stack, drill));
  await pause(fault.seconds ?? 0);
  if (typeof undo === 'function') await attempt(undo());
  drill.ended ||= Date.now();
  await attempt(stack.settled(), 'the stack ');
  if (fault.after) await attempt(fault.after(stack, drill));
  if (load) {
    await pause(margin.after);
    drill.requests = await load.end();
    await attempt(settleAccounts(stack.urls.tasks, load.run, drill), 'the tasks cannot be listed: ');
  }
  drill.broken.push(...fault.judges.flatMap((judge) => judge(drill) ?? []));
  return drill;
}

/** The result of a row, in one line. */
export function describe(id: string, { requests, began, notes, broken }: Drill): string {
  const failures = requests.filter(({ right, at }) => !right && at >= began);
  const last = failures.at(-1);
  const seen = [
    `${requests.length} requests, ${failures.length} failed`,
    ...(last ? [`${tally(failures)}, the last after ${((last.at - began) / 1_000).toFixed(1)} s`] : []),
    ...new Set([...broken, ...notes]),
  ];
  return `${(broken.length > 0 ? 'BROKEN' : 'kept').padEnd(8)} ${id.padEnd(26)} ${seen.join('; ')}`;
}
