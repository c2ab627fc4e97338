import { randomUUID } from 'node:crypto';
import { send } from '@longhand/shared/testing/send.ts';
import { expect } from 'vitest';
import { startLoad, startRequests } from './load.ts';
import type { TestStack } from './test-stack.ts';

/** What a stack on any engine shows of itself. */
export type Watched = Pick<TestStack, 'expanderPort' | 'tasksPort' | 'proxyLog'>;

/** Connections over which a load adds tasks. */
export const writers = 4;

/**
 * Adds tasks over `writers` connections and reads from the expander over four, while `change` runs and until there have
 * been `least` requests.
 *
 * @returns how many requests there were, and which failed.
 */
export async function underLoad(stack: Watched, change: () => Promise<unknown>, least = 30_000) {
  const start = Date.now();
  const writes = await startLoad(stack.tasksPort, writers);
  // A page that is none comes from the expander, too, and is below no rate.
  let page = 0;
  const reads = startRequests(4, () => ({ port: stack.expanderPort, path: `/${page++}` }), 404, 0);
  const enough = reads.answered(least);
  const ended = async () => Promise.all([writes.stop(), reads.stop()]);
  try {
    await writes.answered(100);
    await change();
    await enough;
  } catch (error) {
    await ended();
    throw error;
  }
  const [written, read] = await ended();
  const requests = written.requests + read.requests;
  const failures = [...written.failures, ...read.failures];
  const seconds = Math.round((Date.now() - start) / 1_000);
  const test = expect.getState().currentTestName;
  console.log(`${test}: ${requests} requests, ${failures.length} failures, ${seconds} s`);
  return { requests, failures };
}

/** How many replicas answer requests to `port`, as the proxies log it. */
export async function replicasThatServe(stack: Watched, port: number): Promise<number> {
  const needle = `/spread-${randomUUID()}`;
  await Promise.all(Array.from({ length: 60 }, (_, i) => send(port, `${needle}?u=${i}`)));
  // nginx writes its lines at least every 100 ms.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const lines = (await stack.proxyLog()).filter((line) => line.includes(needle));
  return new Set(lines.map((line) => JSON.parse(line).upstream)).size;
}
