import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testFolder } from '@longhand/shared/testing/text-file.ts';
import { testUnless } from '@longhand/shared/testing/unless.ts';
import { expect, test } from 'vitest';
import { rules } from './observe.ts';

const run = promisify(execFile);
const missing = spawnSync('promtool', ['--version']).error !== undefined && 'needs promtool';

testUnless(missing)('the alerts fire as rules.test.yml expects', { timeout: 120_000 }, async () => {
  const cwd = testFolder();
  writeFileSync(join(cwd, 'rules.yml'), rules());
  cpSync(join(import.meta.dirname, 'rules.test.yml'), join(cwd, 'rules.test.yml'));
  for (const command of ['check rules rules.yml', 'test rules rules.test.yml'])
    expect((await run('promtool', command.split(' '), { cwd })).stdout).toContain('SUCCESS');
});

test('the Prometheus image has the same rules', () => {
  const dockerfile = readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8');
  const [, sed = ''] = /^RUN (sed .*rules\.yaml) >/m.exec(dockerfile) ?? [];
  const command = sed.replace('/etc/prometheus', import.meta.dirname);
  expect(execFileSync('sh', ['-c', command], { encoding: 'utf8' })).toBe(rules());
});

interface Panel {
  title: string;
  fieldConfig: { defaults: { unit: string; min: number } };
  targets: { expr: string; legendFormat: string }[];
}
const panels = ['service', 'load-run'].flatMap((name): Panel[] => {
  const file = join(import.meta.dirname, 'dashboards', `${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8')).panels.filter(({ type }: { type: string }) => type !== 'row');
});

/** Labels of series that are not aggregated. */
const ownLabels = ['job', 'instance', 'service', 'version'];

/** Returns the Grafana units that fit an expression's result. */
function unitsOf(expression: string): string[] {
  if (/\) \/ |_bytes\S* \/ |cpu_seconds|_failed_rate/.test(expression)) return ['percentunit'];
  if (/histogram_quantile|^time\(\)|k6_http_req_(?!failed)|lag_p99_seconds/.test(expression)) return ['s'];
  if (expression.includes('rate(')) return ['reqps', 'ops'];
  return [expression.includes('_bytes') ? 'bytes' : 'short'];
}

test.each(panels.map((panel) => [panel.title, panel] as const))(
  'panel %s has the unit and the legend labels of its query',
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
      // Each series needs a distinct legend.
      if (grouped) expect(named, expr).toEqual(expect.arrayContaining(labels));
    }
  },
);
