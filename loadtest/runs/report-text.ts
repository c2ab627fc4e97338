import { type CpuUser, describeCpu } from '../machine/cpu-users.ts';
import type { Growth } from '../machine/growth.ts';
import { textTable } from '../table.ts';
import { isControl, type Objective, type Verdict } from './verdict.ts';

/** The results of a run, for the terminal and `run.json`. */
export interface Run {
  script: string;
  seconds: number;
  cpu: CpuUser[];
  /** For a soak. */
  growth: Growth[];
  verdict: Verdict;
  /** For a breakpoint: requests a second at its end. */
  rateReached: number | undefined;
}

/** The report of a run, below k6's own summary. */
export function toText(run: Run): string {
  const blocks = [
    textTable([objectiveColumns, ...run.verdict.objectives.map(objectiveRow)]),
    ...(run.growth.length > 0 ? [textTable([growthColumns, ...run.growth.map(growthRow)])] : []),
    conclusion(run),
  ];
  return `\n${blocks.join('\n\n')}\n`;
}

const objectiveColumns = ['threshold', 'rule', 'stack', 'control', 'difference', 'result'];

function objectiveRow({ metric, rule, value, control, met, unmeasured }: Objective): string[] {
  if (unmeasured) return [metric, rule, '', '', '', 'not measured'];
  const shown = (value: number) => (Number.isInteger(value) ? `${value}` : value.toPrecision(3));
  const compared = control === undefined ? ['', ''] : [shown(control), shown(value - control)];
  return [metric, rule, shown(value), ...compared, met ? 'met' : isControl(metric) ? 'BUSY' : 'NOT MET'];
}

const growthColumns = ['process', 'holds', 'second quarter', 'last quarter', 'may grow by', 'result'];

function growthRow({ process, what, before, after, limit, met }: Growth): string[] {
  const shown = (value: number) =>
    what === 'memory' ? `${(value / 2 ** 20).toFixed(1)} MiB` : value.toFixed(1);
  return [process, what, shown(before), shown(after), shown(limit), met ? 'met' : 'NOT MET'];
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** One sentence. */
function conclusion({ script, verdict, cpu, seconds, rateReached, growth }: Run): string {
  const failed = verdict.objectives.filter(({ met, metric }) => !met && !isControl(metric)).length;
  const unmeasured = verdict.objectives.filter(({ unmeasured }) => unmeasured).length;
  const except = unmeasured > 0 ? `, but ${count(unmeasured, 'threshold')} had nothing to measure` : '';
  if (verdict.outcome === 'busy') {
    const crossed = failed > 0 ? `, and ${count(failed, 'threshold')} of the stack crossed` : '';
    const reason = verdict.objectives.some(({ met, metric }) => !met && isControl(metric))
      ? 'The control was too slow'
      : 'Other programs ran';
    return `${script}: machine busy, no verdict. ${reason}${crossed}. The CPU went to: ${describeCpu(cpu)}.`;
  }
  if (rateReached !== undefined) {
    const end = failed > 0 ? `${count(failed, 'threshold')} crossed` : 'no threshold crossed';
    return `${script} reached ${Math.round(rateReached)} requests a second; ${end}.`;
  }
  if (verdict.outcome === 'passed') return `${script} passed after ${seconds.toFixed(0)} s${except}.`;
  const grown = growth.filter(({ met }) => !met).map(({ process, what }) => `${what} of ${process}`);
  const reasons = [...(failed > 0 ? [count(failed, 'threshold')] : []), ...grown];
  return `${script} FAILED after ${seconds.toFixed(0)} s: ${reasons.join(', ')}.`;
}
