import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '@longhand/shared/serve.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createApp } from './app.ts';
import { createExpand, failedExpansion } from './expand.ts';
import { ExpansionError } from './expansion-error.ts';
import { createPage } from './page.ts';

test('who reads a bulk answer slowly holds up its expansions, and gets all of them in the end', async () => {
  const lines = 10_000;
  let asked = 0;
  // An answer of 8 KB a line: 80 MB together, many times what sockets and streams hold.
  const failed = failedExpansion('x'.repeat(8_000), new ExpansionError('request_failed', 'It is down.'));
  const expand = createExpand(async () => {
    asked += 1;
    return failed;
  });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const app = createApp(expand, createPage());
  const { url } = await serve(app, { host: '127.0.0.1', port: 0, signal: stop.signal });
  const post = request(new URL('/api/expand', url), { method: 'POST', agent: false });
  post.end(Array.from({ length: lines }, (_, i) => `http://a.example/${i}`).join('\n'));
  const [answer] = (await once(post, 'response')) as [IncomingMessage];

  let before = -1;
  while (asked > before) {
    before = asked;
    await sleep(200);
  }
  expect(asked).toBeLessThan(lines / 2);
  expect((await text(answer)).trim().split('\n')).toHaveLength(lines);
  expect(asked).toBe(lines);
});
