import { randomUUID } from 'node:crypto';
import { startLoad } from '@longhand/loadtest/load-generator.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { send } from '@longhand/shared/testing/send.ts';
import { openSession } from './session.ts';
import type { TestStack } from './test-stack.ts';

export type Watched = Pick<TestStack, 'expanderPort' | 'tasksPort' | 'proxyLog'>;

/** Number of connections that add tasks. */
export const writers = 4;

/** Pause between requests on a connection (ms). Short runs pause to avoid slowing other tests. */
export const requestPause = rounds({ short: 40, long: 0 });

/** Adds tasks through the proxy on `port`. */
export async function addTasks(port: number, connections: number) {
  const session = openSession(port);
  const _csrf = await session.token();
  const form = {
    url: `http://127.0.0.1:${port}/task`,
    headers: { Cookie: session.cookie(), 'Content-Type': 'application/x-www-form-urlencoded' },
    body: `${new URLSearchParams({ title: 'load', _csrf })}`,
    expected: 302,
  };
  return startLoad(() => form, { connections, pause: requestPause });
}

/**
 * Runs `change` while `writers` connections add tasks and four connections read from the expander. Sends at least 30,000
 * requests.
 */
export async function underLoad(stack: Watched, change: () => Promise<unknown>) {
  const writes = await addTasks(stack.tasksPort, writers);
  // Responses with 404 do not use up the rate limit.
  const read = (i: number) => ({ url: `http://127.0.0.1:${stack.expanderPort}/${i}`, expected: 404 });
  const reads = startLoad(read, { connections: 4 });
  const enough = reads.completed(30_000);
  const end = async () => [...(await writes.stop()), ...(await reads.stop())];
  try {
    await writes.completed(100);
    await change();
    await enough;
  } finally {
    await end();
  }
  const requests = await end();
  return { requests: requests.length, failures: requests.filter(({ right }) => !right) };
}

/** Sends requests to `port` and returns the number of replicas that responded, according to the access log. */
export async function replicasThatServe(stack: Watched, port: number): Promise<number> {
  const needle = `/spread-${randomUUID()}`;
  await Promise.all(Array.from({ length: 60 }, (_, i) => send(port, `${needle}?u=${i}`)));
  // nginx flushes its log every 100 ms.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const lines = (await stack.proxyLog()).filter((line) => line.includes(needle));
  return new Set(lines.map((line) => JSON.parse(line).upstream)).size;
}
