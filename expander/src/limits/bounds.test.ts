import { describe, expect, test } from 'vitest';
import { failedExpansion } from '../expansion/expand.ts';
import type { Answer, Ask, Trace } from '../expansion/expansion.ts';
import { ExpansionError } from '../expansion/expansion-error.ts';
import { bounded, boundedLength, boundedPerOrigin } from './bounds.ts';

const answer: Answer = {
  status: 200,
  location: null,
  method: 'HEAD',
  addressFamily: 4,
  freshUntil: 0,
  cached: false,
};

test('a URL that is too long for any expansion is answered before a cache is asked', () => {
  const never: Trace = () => {
    throw new Error('asked');
  };
  const options = { follow: 'default', maxRedirect: 5 } as const;
  expect(boundedLength(never)(`http://a.example/${'x'.repeat(8_192)}`, options)).toMatchObject({
    error: { code: 'invalid_url' },
  });
});

describe('expansions in flight', () => {
  test('are at most 64 for one origin; the next is overloaded, and other origins are not', async () => {
    const hang = Promise.withResolvers<Answer>();
    const ask: Ask = boundedPerOrigin(({ host }) =>
      host === 'slow.example' ? hang.promise : Promise.resolve(answer),
    );
    const to = (url: string) => ask(new URL(url), { follow: 'default' });
    const waiting = Array.from({ length: 64 }, (_, i) => to(`http://slow.example/${i}`));
    await expect(to('http://slow.example/x')).rejects.toMatchObject({ code: 'overloaded' });
    expect(await to('http://quick.example/')).toEqual(answer);
    expect(await to('http://quick.example:8080/')).toEqual(answer);
    hang.resolve(answer);
    await Promise.all(waiting);
    expect(await to('http://slow.example/x')).toEqual(answer);
  });

  test('are at most 1024 in total; the next is overloaded', async () => {
    const hang = Promise.withResolvers<void>();
    const trace: Trace = bounded(async (url) => {
      await hang.promise;
      return failedExpansion(url, new ExpansionError('timeout', ''));
    });
    const options = { follow: 'default', maxRedirect: 5 } as const;
    const waiting = Array.from({ length: 1_024 }, (_, i) => trace(`http://${i}.example/`, options));
    expect((await trace('http://x.example/', options)).error?.code).toBe('overloaded');
    hang.resolve();
    await Promise.all(waiting);
    expect((await trace('http://x.example/', options)).error?.code).toBe('timeout');
  });
});
