import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeIndex } from './index-page.ts';

test('the last ten runs are linked, with what they came to', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-index-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const entries = Array.from({ length: 12 }, (_, i) => ({
    link: `run+${i}/report.html`,
    title: `run ${i}`,
    conclusion: i === 0 ? 'busy <b>' : 'passed',
    outcome: 'passed',
  }));
  const html = await readFile(await writeIndex('Load tests', folder, entries), 'utf8');
  expect([...html.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)).toEqual(
    Array.from({ length: 10 }, (_, i) => `run%2B${i}/report.html`),
  );
  expect(html).not.toContain('<b>');
});
