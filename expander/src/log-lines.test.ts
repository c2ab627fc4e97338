import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { redirectHop } from '../testing/answer.ts';
import { answerTo, ask, tracing } from '../testing/serving.ts';
import { endedExpansion } from './expansion/chain.ts';
import { ExpansionError } from './expansion/errors.ts';
import type { Expansion } from './expansion/expansion.ts';

const down = endedExpansion('x', new ExpansionError('request_failed', 'It is down.'));

test.each(['/', '/api', '/api/chain'])('the line of an error has its code: %s', async (path) => {
  const { url, lines } = await tracing(async () => down);
  await text(await answerTo(ask(url, `${path}?u=http://a.example/`)));
  await expect.poll(() => lines).toMatchObject([{ path, status: 502, error: 'request_failed' }]);
});

test.each([
  ['when it has ended', false],
  ['when it is cut', true],
])('the line of a page that is written hop by hop is written %s', async (_, cut) => {
  const ending = Promise.withResolvers<Expansion>();
  const { url, lines } = await tracing(async (_, { onHop }) => {
    onHop?.(redirectHop);
    return ending.promise;
  });
  const asking = ask(url, '/?u=http://a.example/');
  const answer = await answerTo(asking);
  await once(answer, 'data');
  expect(lines).toEqual([]);
  if (cut) asking.destroy();
  else {
    ending.resolve(down);
    await text(answer);
  }
  await expect.poll(() => lines).toMatchObject([{ path: '/', status: 200 }]);
  expect(lines[0]?.cut).toBe(cut || undefined);
});
