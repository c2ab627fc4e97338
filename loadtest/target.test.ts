import { createServer } from 'node:http';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { expect, onTestFinished, test } from 'vitest';
import { findRunningStack } from './target.ts';

test('nothing is sent to a stack that is named: k6 says whether it may be loaded', async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end();
  });
  const url = `http://127.0.0.1:${await listening(server)}`;
  onTestFinished(() => cutOff(server));
  await using target = await findRunningStack({ TASKS_URL: url });
  expect([target?.address, target?.variables.TASKS_URL, requests]).toEqual([url, url, 0]);
});
