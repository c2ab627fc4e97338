import { createServer } from 'node:net';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { listening } from '@longhand/shared/testing/listening.ts';
import { expect, onTestFinished, test } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import type { Lookup } from '../guard/lookup.ts';

test.each([
  ['127.0.0.1', []],
  ['short.example', ['short.example']],
  ['localhost', []],
])('refuses %s without opening a connection', async (host, names) => {
  let connections = 0;
  const server = createServer(() => {
    connections += 1;
  });
  const port = await listening(server);
  onTestFinished(() => void server.close());

  const refusal = async (port: number) => {
    const lookedUp: string[] = [];
    const lookup: Lookup = async (name) => {
      lookedUp.push(name);
      return [{ address: '127.0.0.1', family: 4 }];
    };
    const { app } = testExpander({ lookup }, { EXPANDER_ALLOWED_NETWORKS: '' });
    const response = await app.request(`/api?u=http://${host}:${port}/`);
    return { status: response.status, text: await response.text(), lookedUp };
  };
  const up = await refusal(port);
  expect(up).toMatchObject({ status: 403, lookedUp: names });
  expect(await refusal(await freePort())).toEqual(up);
  expect(connections).toBe(0);
});
