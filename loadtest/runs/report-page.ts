import { k6Files } from '../k6.ts';
import { describeCpu } from '../machine/cpu-users.ts';
import type { Sample } from '../samples.ts';
import { escapeXml } from '../svg.ts';
import { latenciesByName } from './latencies.ts';
import { htmlList, htmlTable, page } from './page.ts';
import { percentilePlot, splitPlot } from './plots.ts';
import { conclusion, growthColumns, growthRow, objectiveColumns, objectiveRow } from './report-text.ts';
import type { Run } from './run-folder.ts';

/** Kinds of requests in a plot. */
const shown = 6;

/** The report of a run. */
export function toHtml(run: Run, samples: readonly Sample[]): string {
  const { script, verdict, started, commit, target, growth = [], cpu, settings, machine } = run;
  const groups = latenciesByName(samples);
  const control = groups.filter(({ name }) => name === 'control');
  const requests = groups.filter(({ name }) => name !== 'control').slice(0, shown - control.length);
  const split = requests.filter(({ parts }) => parts.length > 0);
  const sections = [
    `<h1>${escapeXml(script)}</h1>`,
    `<p class="verdict ${verdict.outcome}">${escapeXml(conclusion(run))}</p>`,
    htmlTable([objectiveColumns, ...verdict.objectives.map(objectiveRow)]),
    '<p>Of a latency, what the control needed at the same time is subtracted: a server of constant responses, asked by the same k6.</p>',
    ...(requests.length > 0 ? ['<h2>Latencies</h2>', percentilePlot([...requests, ...control])] : []),
    ...(split.length > 0 ? ['<h2>Where the time goes, on average</h2>', splitPlot(split)] : []),
    ...(growth.length > 0
      ? ['<h2>What processes held</h2>', htmlTable([growthColumns, ...growth.map(growthRow)])]
      : []),
    '<h2>Run</h2>',
    htmlList({ started, commit, target, CPU: describeCpu(cpu), ...machine, ...settings }),
    `<p>k6's own: <a href="${k6Files.html}">report with plots over time</a>,
<a href="${k6Files.summary}">summary</a>, <a href="${k6Files.samples}">samples</a>. <a href="../index.html">All runs</a></p>`,
  ];
  return page(`${script}, ${started}`, sections.join('\n'));
}
