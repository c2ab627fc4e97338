import { describeCpu } from '../machine/cpu-users.ts';
import type { Growth } from '../machine/growth.ts';
import type { Sample } from '../samples.ts';
import { textTable } from '../table.ts';
import { latenciesByName } from './latencies.ts';
import type { Run } from './run-folder.ts';
import { isControl, type Objective } from './verdict.ts';

/** The result of a run for the terminal: below k6's own summary. */
export function toText(run: Run, samples: readonly Sample[]): string {
  const split = latenciesByName(samples).filter(({ parts }) => parts.length > 0);
  const blocks = [
    textTable([objectiveColumns, ...run.verdict.objectives.map(objectiveRow)]),
    ...(run.growth?.length ? [textTable([growthColumns, ...run.growth.map(growthRow)])] : []),
    ...split.slice(0, 5).map(({ name, parts }) => {
      const list = parts.map(({ name, milliseconds }) => `${name} ${milliseconds.toFixed(2)}`);
      return `${name}, average ms: ${list.join(', ')}`;
    }),
    conclusion(run),
  ];
  return `\n${blocks.join('\n\n')}\n`;
}

export const objectiveColumns = ['threshold', 'rule', 'stack', 'control', 'difference', 'result'];

export function objectiveRow({ metric, rule, value, control, met, unmeasured }: Objective): string[] {
  if (unmeasured) return [metric, rule, '', '', '', 'not measured'];
  const shown = (value: number) => (Number.isInteger(value) ? `${value}` : value.toPrecision(3));
  const compared = control === undefined ? ['', ''] : [shown(control), shown(value - control)];
  return [metric, rule, shown(value), ...compared, met ? 'met' : isControl(metric) ? 'BUSY' : 'NOT MET'];
}

export const growthColumns = ['process', 'holds', 'mean', 'change', 'interval of 95 %', 'limit', 'result'];

export function growthRow({ process, what, mean, change, interval, limit, met }: Growth): string[] {
  const shown = (value: number) =>
    what === 'memory' ? `${(value / 2 ** 20).toFixed(1)} MiB` : value.toFixed(1);
  const range = `${shown(interval.low)} to ${shown(interval.high)}`;
  return [process, what, shown(mean), shown(change), range, shown(limit), met ? 'met' : 'NOT MET'];
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** One sentence. */
export function conclusion({ script, verdict, cpu, seconds, growth = [] }: Run): string {
  const failed = verdict.objectives.filter(({ met, metric }) => !met && !isControl(metric)).length;
  const unmeasured = verdict.objectives.filter(({ unmeasured }) => unmeasured).length;
  const except = unmeasured > 0 ? `, but ${count(unmeasured, 'threshold')} had nothing to measure` : '';
  if (verdict.outcome === 'passed') return `${script} passed after ${seconds.toFixed(0)} s${except}.`;
  if (verdict.outcome === 'busy') {
    const crossed = failed > 0 ? `, and ${count(failed, 'threshold')} of the stack crossed` : '';
    const reason = verdict.objectives.some(({ met, metric }) => !met && isControl(metric))
      ? 'The control was too slow'
      : 'Other programs ran';
    return `${script}: machine busy, no verdict. ${reason}${crossed}. The CPU went to: ${describeCpu(cpu)}.`;
  }
  const grown = growth.filter(({ met }) => !met).map(({ process, what }) => `${what} of ${process}`);
  const reasons = [...(failed > 0 ? [count(failed, 'threshold')] : []), ...grown];
  return `${script} FAILED after ${seconds.toFixed(0)} s: ${reasons.join(', ')}.`;
}
