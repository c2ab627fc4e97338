import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { answerTo, ask, tracing } from '../testing/serving.ts';
import { endedExpansion } from './expansion/chain.ts';
import { ExpansionError } from './expansion/errors.ts';

const down = endedExpansion('x', new ExpansionError('request_failed', 'It is down.'));

test.each(['/', '/api', '/api/chain'])('the line of an error has its code: %s', async (path) => {
  const { url, lines } = await tracing(async () => down);
  await text(await answerTo(ask(url, `${path}?u=http://a.example/`)));
  await expect.poll(() => lines).toMatchObject([{ path, status: 502, error: 'request_failed' }]);
});
