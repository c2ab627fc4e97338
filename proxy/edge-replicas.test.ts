import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { service, socketPath } from '@longhand/deploy/native/processes.ts';
import { type SupervisedProcess, supervise } from '@longhand/deploy/native/supervisor.ts';
import { startTemporaryProxy, type TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { type Shortener, startShortener } from '@longhand/shortener';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { send } from './testing/send.ts';

/** nginx in front of three expanders without Redis, so that they know nothing of each other. */
describe('Three expanders behind the edge', () => {
  const names = ['expander', 'expander-2', 'expander-3'];
  let folder: string;
  let shortener: Shortener;
  let expanders: SupervisedProcess[];
  let proxy: TemporaryProxy;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'longhand-replicas-'));
    await mkdir(join(folder, 'run'));
    shortener = await startShortener();
    const env = { ...process.env, EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' };
    expanders = await Promise.all(
      names.map((name) =>
        supervise(service('expander', name, 'no-cache', folder), { folder, env, onLine() {} }),
      ),
    );
    const servers = names.map((name) => `unix:${join(folder, socketPath(name))} max_fails=0`);
    proxy = await startTemporaryProxy({
      LONGHAND_API_RATE: '1000000r/s',
      LONGHAND_EXPANDER_SERVER: servers.join('; server '),
    });
  }, 60_000);
  afterAll(async () => {
    await proxy?.stop();
    await Promise.all((expanders ?? []).map(({ stop }) => stop()));
    await shortener?.close();
    await rm(folder, { recursive: true });
  });

  const path = (link: string) => `/api?u=${encodeURIComponent(shortener.url + link)}`;
  test('many clients that ask for one cold link at once send one chain out', async () => {
    const clients = rounds({ short: 250, long: 250 * 4 });
    const link = path(`/chain/2?delay=200&id=${randomUUID()}`);
    const before = shortener.requests.get('HEAD /chain/2') ?? 0;
    const answers = await Promise.all(
      Array.from({ length: clients }, (_, i) =>
        send(proxy.ports.expander, link, { localAddress: `127.0.0.${1 + Math.floor(i / 250)}` }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(shortener.requests.get('HEAD /chain/2')).toBe(before + 1);
  });
});
