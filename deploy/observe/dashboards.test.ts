import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface Panel {
  title: string;
  fieldConfig: { defaults: { unit: string; min: number } };
  targets: { expr: string; legendFormat: string }[];
}
const panels = ['service', 'load-run'].flatMap((name): Panel[] => {
  const file = join(import.meta.dirname, 'dashboards', `${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8')).panels.filter(({ type }: { type: string }) => type !== 'row');
});

/** What Prometheus adds to series, and the labels of our own that are never aggregated. */
const ownLabels = ['job', 'instance', 'service', 'version'];

/** The units in which the result of an expression may be drawn, by the names of Grafana. */
function unitsOf(expression: string): string[] {
  if (/\) \/ |_bytes\S* \/ |cpu_seconds|_failed_rate/.test(expression)) return ['percentunit'];
  if (/histogram_quantile|^time\(\)|k6_http_req_(?!failed)|lag_p99_seconds/.test(expression)) return ['s'];
  if (expression.includes('rate(')) return ['reqps', 'ops'];
  return [expression.includes('_bytes') ? 'bytes' : 'short'];
}

test.each(panels.map((panel) => [panel.title, panel] as const))(
  'panel %s names what its lines have, and its axis has their unit',
  (_, { fieldConfig: { defaults }, targets }) => {
    expect(defaults.min).toBe(0);
    for (const { expr, legendFormat } of targets) {
      expect(unitsOf(expr), expr).toContain(defaults.unit);
      const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      const [, grouped] = /\bby \(([^)]*)\)/.exec(expr) ?? [];
      const aggregated = /\b(sum|min|max|avg)[ (]/.test(expr);
      const labels =
        grouped?.split(/,\s*/).filter((label) => label !== 'le') ?? (aggregated ? [] : ownLabels);
      expect(labels, expr).toEqual(expect.arrayContaining(named));
      // Otherwise two lines would have the same name.
      if (grouped) expect(named, expr).toEqual(expect.arrayContaining(labels));
    }
  },
);
