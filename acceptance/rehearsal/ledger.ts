import type { Request } from './mix.ts';

interface Listed {
  _id: string;
  title: string;
}

/** Deletions in flight. */
const batch = 20;

/**
 * Compares the responses to a load with the list at `tasks`, then removes what it added.
 *
 * @param run the prefix of its titles.
 * @returns titles that were acknowledged and are not there, and those that are there twice.
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

/** Removes tasks from the list at `tasks`, a few at a time. */
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
