import { describe, expect, test } from 'vitest';
import { answerWith } from '../../testing/answer.ts';
import { cacheHops } from './caches.ts';

const answer = () => answerWith({ freshUntil: Date.now() + 60_000 });

describe('a hop that is remembered', () => {
  test('is of one way to follow: a host may answer HEAD and GET differently', async () => {
    const asked: string[] = [];
    const ask = cacheHops(async (_, { follow }) => {
      asked.push(follow);
      return answer();
    });
    for (const follow of ['default', 'all', 'default', 'all'] as const) {
      await ask(new URL('http://a.example/'), { follow });
    }
    expect(asked).toEqual(['default', 'all']);
  });

  test('takes no more than 2 KiB', async () => {
    const asked: number[] = [];
    const ask = cacheHops(async ({ href }) => {
      asked.push(href.length);
      return answer();
    });
    const url = (length: number) => new URL(`http://a.example/${'x'.repeat(length - 17)}`);
    for (const length of [2_048, 2_048, 2_049, 2_049]) await ask(url(length), { follow: 'default' });
    expect(asked).toEqual([2_048, 2_049, 2_049]);
  });
});
