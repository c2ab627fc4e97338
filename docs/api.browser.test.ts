import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { listening } from '@longhand/shared/testing/listening.ts';
import { expect, onTestFinished, test } from 'vitest';
import { scriptedApp, to } from '../expander/testing/scripted-web.ts';
import { startVisits } from '../expander/testing/visit.ts';

const page = readFileSync(join(import.meta.dirname, 'api.md'), 'utf8');
const [, snippet = ''] = /```html\n(.*?)```/s.exec(page) ?? [];

test('the snippet shows link targets on a third-party website', async () => {
  expect(snippet.trim().split('\n').length).toBeLessThanOrEqual(30);
  const visits = await startVisits(
    scriptedApp({ 'http://sho.rt/a': to('http://end.example/', 303), 'http://end.example/': {} }),
  );
  const links = ['http://sho.rt/a', 'http://sho.rt/gone'].map((url) => `<a data-short href="${url}">It</a>`);
  const html = `${links.join('<br>')}<br><a href="/">ours</a>${snippet}`;
  const other = createServer((_, response) =>
    response
      .setHeader('Content-Type', 'text/html; charset=utf-8')
      .end(html.replace('http://localhost:8081', visits.origin)),
  );
  const origin = `http://127.0.0.1:${await listening(other)}`;
  onTestFinished(async () => {
    await visits.close();
    other.close();
  });
  await visits.visit({}, async (page) => {
    await page.goto(origin);
    await expect
      .poll(() => page.locator('small').allTextContents())
      .toEqual([' → http://end.example/', ' (sho.rt refused the connection.)']);
  });
});
