import { randomBytes } from 'node:crypto';
import { type Outcome, type Planned, startLoad } from '@longhand/loadtest/load-generator.ts';
import type { RehearsedStack } from './containers.ts';

export type Kind = 'hot' | 'miss' | 'read' | 'write';

/** Requests per second. */
const rates: Record<Kind, number> = { hot: 40, miss: 4, read: 20, write: 20 };
const hotLinks = 20;

export interface Request extends Pick<Outcome, 'at' | 'milliseconds' | 'status' | 'right'> {
  kind: Kind;
  /** The title of the added task. */
  title?: string;
}

/** Sends every kind of request at a constant rate. */
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
    /** Title prefix of the added tasks. */
    run,
    end: async (): Promise<Request[]> => (await Promise.all(loads.map((load) => load.stop()))).flat(),
  };
}

/**
 * Compares the list at `tasks` with the acknowledged writes of a load, then removes the load's tasks.
 *
 * @param run the title prefix of the load's tasks.
 * @returns the titles of lost and duplicate tasks.
 */
export async function settle(tasks: string, run: string, requests: readonly Request[]) {
  const listed = await added(tasks, run);
  const titles = listed.map(({ title }) => title);
  const acknowledged = requests.filter(({ kind, right }) => kind === 'write' && right);
  const lost = acknowledged.map(({ title = '' }) => title).filter((title) => !titles.includes(title));
  await remove(tasks, listed);
  return { lost, duplicates: titles.filter((title, i) => titles.indexOf(title) !== i) };
}

/** Deletes tasks from the list at `tasks`. */
export async function remove(tasks: string, listed: readonly { _id: string }[]): Promise<void> {
  const options = { method: 'DELETE', headers: { Accept: 'application/json', 'If-Match': '*' } };
  for (const { _id } of listed) await fetch(`${tasks}/tasks/${_id}`, options);
}

/** Returns the tasks whose titles start with `prefix`. */
export async function added(tasks: string, prefix: string): Promise<{ _id: string; title: string }[]> {
  const response = await fetch(`${tasks}/tasks/export?format=json`);
  if (!response.ok) throw new Error(`${response.url}: status ${response.status}`);
  const listed = (await response.json()) as { _id: string; title: string }[];
  return listed.filter(({ title }) => title.startsWith(prefix));
}
