import { markdownTable } from '../table.ts';
import type { RehearsedStack } from './containers.ts';
import type { Drill, Fault } from './fault.ts';
import { tally } from './judge.ts';
import { type Ledger, settleAccounts } from './ledger.ts';
import { type Request, startLoad } from './load.ts';
import { pause } from './until.ts';

/** What became of one row. */
export interface Result {
  id: string;
  /** How its promise was broken; empty if it was kept. */
  broken: string[];
  notes: string[];
  requests: number;
  /** Requests that failed since the fault began. */
  failures: readonly Request[];
  /** Seconds from the begin of the fault to the end of the last request that failed. */
  recovery: number;
  ledger: Ledger;
}

/** Seconds of load before a fault, and after it. */
const margin = { before: 2, after: 3 };

/** Rehearses one row: load, fault, recovery, and the account of what was acknowledged. */
export async function rehearse(fault: Fault, stack: RehearsedStack): Promise<Result> {
  const broken: string[] = [];
  const notes: string[] = [];
  const observed = { requests: [] as Request[], began: 0, ended: 0, exits: [] as readonly number[] };
  const drill: Drill = {
    begins() {
      observed.began = Date.now();
    },
    ends() {
      observed.ended = Date.now();
    },
    exits(times) {
      observed.exits = times;
    },
    note: (text) => notes.push(text),
    broken: (sentence) => broken.push(sentence),
  };
  /** A fault that cannot be caused, or taken back, is reported; the rows after it still run. */
  const attempt = <Value>(action: Promise<Value>, words = ''): Promise<Value | undefined> =>
    action.catch((error: Error) => {
      broken.push(`${words}${error.message}`);
      return undefined;
    });

  await attempt(stack.settled(), 'the stack, before this row, ');
  const load = fault.quiet ? undefined : await attempt(startLoad(stack, margin.before));
  await attempt(fault.cause(stack, drill));
  if (observed.ended < observed.began) drill.ends();
  await attempt(stack.settled(), 'the stack ');
  let ledger: Ledger = { acknowledged: 0, lost: [], doubled: [] };
  if (load) {
    await pause(margin.after);
    observed.requests = await load.end();
    const account = settleAccounts(stack.urls.tasks, load.run, observed.requests);
    ledger = (await attempt(account, 'the tasks cannot be listed: ')) ?? ledger;
  }
  const { requests, began } = observed;
  broken.push(...fault.judges.flatMap((judge) => judge(observed) ?? []));
  const { lost, doubled } = ledger;
  if (lost.length > 0) broken.push(`lost: ${lost.slice(0, 5).join(', ')}`);
  if (doubled.length > 0) broken.push(`twice: ${doubled.slice(0, 5).join(', ')}`);
  const failures = requests.filter(({ right, at }) => !right && at >= began);
  const recovery = ((failures.at(-1)?.at ?? began) - began) / 1_000;
  return { id: fault.id, broken, notes, requests: requests.length, failures, recovery, ledger };
}

const header = [
  ...['row', 'verdict', 'requests', 'failed', 'recovery (s)', 'acknowledged', 'lost'],
  'what was seen',
];

function cells({ id, broken, notes, requests, failures, recovery, ledger }: Result): string[] {
  const seen = [...broken, ...notes, ...(failures.length > 0 ? [`failed: ${tally(failures)}`] : [])];
  const figures = [requests, failures.length, recovery.toFixed(1), ledger.acknowledged, ledger.lost.length];
  return [id, broken.length > 0 ? 'BROKEN' : 'kept', ...figures.map(String), [...new Set(seen)].join('; ')];
}

/** One line for the terminal. */
export function line(result: Result): string {
  const [id = '', verdict = '', , failed, recovery, acknowledged, lost, seen] = cells(result);
  const figures = `${failed} failed, ${recovery} s, ${acknowledged} writes, ${lost} lost`;
  return `${verdict.padEnd(8)} ${id.padEnd(26)} ${figures}${seen ? `; ${seen}` : ''}`;
}

/** The report of a rehearsal in Markdown. */
export function markdown(title: string, results: readonly Result[]): string {
  const rows = results.map((result) => cells(result).map((cell) => cell.replaceAll('|', '\\|')));
  return `# ${title}\n\n${markdownTable([header, ...rows])}\n`;
}
