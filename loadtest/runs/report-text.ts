import { type CpuUser, describeCpu } from '../machine/cpu-users.ts';
import { table } from '../table.ts';
import { isControl, type Objective, type Verdict } from './verdict.ts';

/** The results of a run, for the terminal and `run.json`. */
export interface Run {
  script: string;
  seconds: number;
  cpu: CpuUser[];
  verdict: Verdict;
}

/** The report of a run, below k6's own summary. */
export const toText = (run: Run): string =>
  `\n${table([columns, ...run.verdict.objectives.map(row)])}\n\n${conclusion(run)}\n`;

const columns = ['threshold', 'rule', 'stack', 'control', 'difference', 'result'];

function row({ metric, rule, value, control, met, unmeasured }: Objective): string[] {
  if (unmeasured) return [metric, rule, '', '', '', 'not measured'];
  const shown = (value: number) => (Number.isInteger(value) ? `${value}` : value.toPrecision(3));
  const compared = control === undefined ? ['', ''] : [shown(control), shown(value - control)];
  return [metric, rule, shown(value), ...compared, met ? 'met' : isControl(metric) ? 'BUSY' : 'NOT MET'];
}

/** One sentence. */
function conclusion({ script, seconds, cpu, verdict }: Run): string {
  const { outcome, objectives, rateReached } = verdict;
  const crossed = objectives.filter(({ met, metric }) => !met && !isControl(metric));
  const names = crossed.map(({ metric }) => metric).join(', ');
  if (outcome === 'busy') {
    const isSlow = objectives.some(({ met, metric }) => !met && isControl(metric));
    const reason = isSlow ? 'The control was too slow' : 'Other programs ran';
    const and = names && `, and the stack crossed ${names}`;
    return `${script}: machine busy, no verdict. ${reason}${and}. The CPU went to: ${describeCpu(cpu)}.`;
  }
  if (rateReached !== undefined)
    return `${script} reached ${Math.round(rateReached)} requests a second; crossed: ${names || 'nothing'}.`;
  if (outcome === 'failed')
    return `${script} FAILED after ${seconds.toFixed(0)} s: ${names || 'nothing was measured'}.`;
  const unmeasured = objectives.filter(({ unmeasured }) => unmeasured).map(({ metric }) => metric);
  const except = unmeasured.length > 0 ? `, but nothing was measured of ${unmeasured.join(', ')}` : '';
  return `${script} passed after ${seconds.toFixed(0)} s${except}.`;
}
