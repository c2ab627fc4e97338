import { randomBytes } from 'node:crypto';
import { type Outcome, type Planned, startLoad } from '@longhand/loadtest/load-generator.ts';
import type { RehearsedStack } from './containers.ts';

export type Kind = 'hot' | 'miss' | 'read' | 'write';

/** Requests a second. */
const rates: Record<Kind, number> = { hot: 40, miss: 4, read: 20, write: 20 };
const hotLinks = 20;

/** One request of the load. */
export interface Request extends Pick<Outcome, 'at' | 'milliseconds' | 'status' | 'right'> {
  kind: Kind;
  /** Of the task that a write adds. */
  title?: string;
}

/** Starts to send each kind of request at its constant rate. */
export function startMix({ urls, shortener }: Pick<RehearsedStack, 'urls' | 'shortener'>) {
  const run = `rehearsal-${randomBytes(6).toString('base64url')}`;
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const expand = (id: string) => ({
    url: `${urls.expander}/api?u=${encodeURIComponent(`${shortener}/chain/2?id=${id}`)}`,
    expectedBody: `${shortener}/chain/0?id=${id}`,
  });
  const kinds: Record<Kind, (i: number) => Planned & { title?: string }> = {
    hot: (i) => expand(`${run}-${i % hotLinks}`),
    miss: (i) => expand(`${run}-new-${i}`),
    read: () => ({ url: `${urls.tasks}/` }),
    write(i) {
      const title = `${run} ${i}`;
      return { title, url: `${urls.tasks}/tasks`, headers, body: JSON.stringify({ title }), expected: 201 };
    },
  };
  const loads = (Object.keys(kinds) as Kind[]).map((kind) =>
    startLoad((i) => ({ kind, ...kinds[kind](i) }), { rate: rates[kind] }),
  );
  return {
    /** The prefix of the titles that this load adds. */
    run,
    /** Ends the load. Resolves with all requests. */
    end: async (): Promise<Request[]> => (await Promise.all(loads.map((load) => load.stop()))).flat(),
  };
}

interface Listed {
  _id: string;
  title: string;
}

/** Concurrent deletions. */
const batch = 20;

/**
 * Compares the list at `tasks` with the acknowledged writes of a load, then removes its tasks.
 *
 * @param run the prefix of its titles.
 * @returns the titles of acknowledged tasks that are missing, and of tasks that were saved twice.
 */
export async function settle(tasks: string, run: string, requests: readonly Request[]) {
  const listed = await added(tasks, run);
  const titles = listed.map(({ title }) => title);
  const there = new Set(titles);
  const acknowledged = requests.filter(({ kind, right }) => kind === 'write' && right);
  await remove(tasks, listed);
  return {
    lost: acknowledged.flatMap(({ title = '' }) => (there.has(title) ? [] : [title])),
    doubled: titles.filter((title, i) => titles.indexOf(title) !== i),
  };
}

/** Removes tasks from the list at `tasks`, `batch` at a time. */
export async function remove(tasks: string, listed: readonly Listed[]): Promise<void> {
  const options = { method: 'DELETE', headers: { Accept: 'application/json', 'If-Match': '*' } };
  for (let i = 0; i < listed.length; i += batch) {
    const some = listed.slice(i, i + batch);
    await Promise.all(some.map(({ _id }) => fetch(`${tasks}/tasks/${_id}`, options)));
  }
}

/** The tasks whose titles begin with `prefix`. */
export async function added(tasks: string, prefix: string): Promise<Listed[]> {
  const response = await fetch(`${tasks}/tasks/export?format=json`);
  if (!response.ok) throw new Error(`${response.url} answers ${response.status}`);
  return ((await response.json()) as Listed[]).filter(({ title }) => title.startsWith(prefix));
}
