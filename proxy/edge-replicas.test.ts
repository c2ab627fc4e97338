import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { service, socketPath } from '@longhand/deploy/native/processes.ts';
import { supervise } from '@longhand/deploy/native/supervisor.ts';
import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { startShortener } from '@longhand/shortener';
import { expect, onTestFinished, test } from 'vitest';
import { send } from './testing/send.ts';

test('many clients that ask three expanders for one cold link at once send one chain out', {
  timeout: 60_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-replicas-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'run'));
  const shortener = await startShortener();
  onTestFinished(shortener.close);
  // Without Redis they know nothing of each other.
  const names = ['expander', 'expander-2', 'expander-3'];
  const env = { ...process.env, EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' };
  const start = (name: string) =>
    supervise(service('expander', name, 'no-cache', folder), { folder, env, onLine() {} });
  for (const { stop } of await Promise.all(names.map(start))) onTestFinished(stop);
  const servers = names.map((name) => `unix:${join(folder, socketPath(name))} max_fails=0`);
  const proxy = await startTemporaryProxy({
    LONGHAND_API_RATE: '1000000r/s',
    LONGHAND_EXPANDER_SERVER: servers.join('; server '),
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
