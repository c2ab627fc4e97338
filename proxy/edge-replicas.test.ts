import { randomUUID } from 'node:crypto';
import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { send } from '@longhand/shared/testing/send.ts';
import { startShortener } from '@longhand/shortener';
import { expect, onTestFinished, test } from 'vitest';
import { startReplicas } from './testing/replicas.ts';

test('many clients that ask two expanders for one cold link at once send one chain out', {
  timeout: 60_000,
}, async () => {
  const shortener = await startShortener();
  onTestFinished(shortener.close);
  // Without Redis they know nothing of each other.
  const expanders = await startReplicas('expander', { EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' });
  onTestFinished(expanders.stop);
  const proxy = await startTemporaryProxy({
    LONGHAND_API_RATE: '1000000r/s',
    LONGHAND_EXPANDER_SERVER: expanders.server,
  });
  onTestFinished(proxy.stop);

  const clients = rounds({ short: 250, long: 250 * 4 });
  const link = `/api?u=${encodeURIComponent(`${shortener.url}/chain/2?delay=200&id=${randomUUID()}`)}`;
  const answers = await Promise.all(
    Array.from({ length: clients }, (_, i) =>
      send(proxy.ports.expander, link, { localAddress: `127.0.0.${1 + Math.floor(i / 250)}` }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  expect(shortener.requests.get('HEAD /chain/2')).toBe(1);
});
