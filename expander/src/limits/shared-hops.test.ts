import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { answerWith } from '../../testing/answer.ts';
import { testExpander } from '../../testing/expander.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { Answer, FetchHop } from '../expansion/expansion.ts';
import { shareHops } from './in-flight.ts';

describe('a hop that several wait for', () => {
  test('is asked once; who runs out of time or leaves is told at once, and the others get the answer', async () => {
    const answered = Promise.withResolvers<Answer>();
    const signals: (AbortSignal | undefined)[] = [];
    const ask: FetchHop = shareHops((_, { signal }) => {
      signals.push(signal);
      return answered.promise;
    });
    const [first, second] = [new AbortController(), new AbortController()];
    const wait = (fragment: string, signal?: AbortSignal) =>
      ask(new URL(`http://a.example/#${fragment}`), { follow: 'default', signal });
    const [one, two, three] = [wait('a', first.signal), wait('b', second.signal), wait('c')];
    first.abort(new ExpansionError('timeout', 'It took longer than 8 seconds.'));
    await expect(one).rejects.toMatchObject({ code: 'timeout' });
    second.abort();
    await expect(two).rejects.toMatchObject({ code: 'aborted' });
    expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
    answered.resolve(answerWith());
    expect(await three).toMatchObject({ status: 200 });
  });

  test('and hangs is asked anew by the next after one of them has run out of time', async () => {
    const asked: string[] = [];
    const ask: FetchHop = shareHops(async (_, { signal }) => {
      asked.push('hop');
      if (asked.length > 1) return answerWith();
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    });
    const late = new AbortController();
    const wait = (signal?: AbortSignal) => ask(new URL('http://a.example/'), { follow: 'default', signal });
    const stay = new AbortController();
    const [first, second] = [wait(late.signal), wait(stay.signal)];
    late.abort(new ExpansionError('timeout', 'a.example did not answer within 3 seconds.'));
    await expect(first).rejects.toMatchObject({ code: 'timeout' });
    expect(await wait()).toMatchObject({ status: 200 });
    expect(asked).toHaveLength(2);
    stay.abort();
    await expect(second).rejects.toMatchObject({ code: 'aborted' });
  });

  test('counts for each with those who wait for its host: 64, and other hosts are not held up', async () => {
    const asked: string[] = [];
    const server = createServer((request) => void asked.push(`${request.url}`));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const { expand } = testExpander();
    const stop = new AbortController();
    const waiting = Array.from({ length: 64 }, (_, i) =>
      expand.trace(`http://127.0.0.1:${port}/hang#${i}`, { signal: stop.signal }),
    );
    await expect.poll(() => asked).toEqual(['/hang']);
    const next = await expand.trace(`http://127.0.0.1:${port}/hang#next`);
    expect(next.error).toMatchObject({ code: 'overloaded' });
    stop.abort();
    const ends = (await Promise.all(waiting)).map(({ error }) => error?.code);
    expect(new Set(ends)).toEqual(new Set(['aborted']));
  });
});
