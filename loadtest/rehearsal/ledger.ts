import type { Request } from './load.ts';

interface Listed {
  _id: string;
  title: string;
}

/** What happened to the writes of a load. */
export interface Ledger {
  acknowledged: number;
  /** Acknowledged titles that are missing. */
  lost: string[];
  /** Titles that exist twice. */
  doubled: string[];
}

const asJson = { Accept: 'application/json' };
/** Deletions in flight. */
const batch = 20;

/** Compares the responses to `requests` with the list at `tasks`, then removes what they added. */
export async function settleAccounts(
  tasks: string,
  run: string,
  requests: readonly Request[],
): Promise<Ledger> {
  const listed = await added(tasks, run);
  const titles = listed.map(({ title }) => title);
  const there = new Set(titles);
  const acknowledged = requests.filter(({ kind, right }) => kind === 'write' && right);
  await remove(tasks, listed);
  return {
    acknowledged: acknowledged.length,
    lost: acknowledged.flatMap(({ title = '' }) => (there.has(title) ? [] : [title])),
    doubled: titles.filter((title, i) => titles.indexOf(title) !== i),
  };
}

/** Removes tasks from the list at `tasks`, a few at a time. */
export async function remove(tasks: string, listed: readonly { _id: string }[]): Promise<void> {
  const options = { method: 'DELETE', headers: { ...asJson, 'If-Match': '*' } };
  for (let i = 0; i < listed.length; i += batch) {
    const some = listed.slice(i, i + batch);
    await Promise.all(some.map(({ _id }) => fetch(`${tasks}/tasks/${_id}`, options)));
  }
}

/** The tasks whose titles begin with `prefix`, on all pages. */
export async function added(tasks: string, prefix: string): Promise<Listed[]> {
  const found: Listed[] = [];
  for (let path: string | undefined = '/tasks'; path !== undefined; ) {
    const response = await fetch(tasks + path, { headers: asJson });
    if (!response.ok) throw new Error(`GET ${tasks}${path} answers ${response.status}`);
    const page = (await response.json()) as { tasks: Listed[]; next?: string };
    found.push(...page.tasks.filter(({ title }) => title.startsWith(prefix)));
    path = page.next;
  }
  return found;
}
