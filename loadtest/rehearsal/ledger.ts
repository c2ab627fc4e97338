import type { Drill } from './fault.ts';

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
 */
export async function settleAccounts(tasks: string, run: string, drill: Drill): Promise<void> {
  const listed = await added(tasks, run);
  const titles = listed.map(({ title }) => title);
  const there = new Set(titles);
  const acknowledged = drill.requests.filter(({ kind, right }) => kind === 'write' && right);
  const lost = acknowledged.flatMap(({ title = '' }) => (there.has(title) ? [] : [title]));
  const doubled = titles.filter((title, i) => titles.indexOf(title) !== i);
  drill.notes.push(`${acknowledged.length} writes acknowledged, ${lost.length} lost`);
  if (lost.length > 0) drill.broken.push(`lost: ${lost.slice(0, 5).join(', ')}`);
  if (doubled.length > 0) drill.broken.push(`twice: ${doubled.slice(0, 5).join(', ')}`);
  await remove(tasks, listed);
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
