import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StackUrls } from '@longhand/deploy/testing/stack-ports.ts';
import { expect } from 'vitest';

const read = (file: string) => readFileSync(join(import.meta.dirname, '../../deploy/observe', file), 'utf8');

/** Expects that no panel of the dashboard is empty while `query` asks Prometheus. */
export async function expectPanels(dashboard: string, query: (expression: string) => Promise<unknown[]>) {
  const { panels } = JSON.parse(read(`dashboards/${dashboard}`));
  for (const { title, targets = [] } of panels)
    for (const { expr } of targets) {
      const expression = expr.replaceAll('$__rate_interval', '10s').replaceAll('$testid', '.*');
      await expectSeries(title, expression, query);
    }
}

/** Expects that no rule is without its series; natively there are no certificates. */
export async function expectRuled(query: (expression: string) => Promise<unknown[]>) {
  const ruled = read('rules.yaml').match(
    /\b(?:proxy|longhand(?!_certificate)|node|nodejs)_\w+(?:\{[^}]*\})?|\bup\{[^}]*\}/g,
  );
  expect(new Set(ruled).size).toBeGreaterThan(10);
  for (const series of new Set(ruled)) await expectSeries('rules.yaml', series, query);
}

async function expectSeries(name: string, series: string, query: (expression: string) => Promise<unknown[]>) {
  const result = async () => [name, series, (await query(series)).length > 0];
  await expect.poll(result, { timeout: 20_000, interval: 250 }).toEqual([name, series, true]);
}

/**
 * One of everything that a stack's users do: reads, a write, an expansion, the same from the cache, a bad path.
 *
 * @param target a URL that the expander may follow.
 */
export async function ask(
  { expander, tasks }: StackUrls,
  target = `http://127.0.0.1:${new URL(tasks).port}/public/x`,
): Promise<void> {
  const json = { Accept: 'application/json', 'Content-Type': 'application/json' };
  const link = `${expander}/api?u=${encodeURIComponent(target)}`;
  const stream = new AbortController();
  const requests = [
    fetch(`${tasks}/`),
    fetch(`${tasks}/nowhere`),
    fetch(`${tasks}/tasks`, { method: 'POST', headers: json, body: JSON.stringify({ title: 'a visit' }) }),
    fetch(`${tasks}/tasks/events`, { signal: stream.signal }),
    fetch(link),
    fetch(`${link}?${Math.random()}`),
    fetch(`${expander}/api?u=http://127.0.0.1:1/${Math.random()}`),
    fetch(`${expander}/?u=http://127.0.0.1:1/${Math.random()}`),
  ];
  for (const answer of requests) answer.then((response) => response.body?.cancel()).catch(() => {});
  await Promise.allSettled(requests);
  stream.abort();
}
