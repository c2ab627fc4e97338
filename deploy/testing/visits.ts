import type { Stack } from '../native/stack.ts';

/**
 * One of everything that a stack's users do: reads, a write, an expansion, the same from the cache, a bad path.
 *
 * @param target a URL that the expander may follow.
 */
export async function ask(
  { expander, tasks }: Stack['urls'],
  target = `http://127.0.0.1:${new URL(tasks).port}/public/x`,
): Promise<void> {
  const json = { Accept: 'application/json', 'Content-Type': 'application/json' };
  const link = `${expander}/api?u=${encodeURIComponent(target)}`;
  const stream = new AbortController();
  const requests = [
    fetch(`${tasks}/`),
    fetch(`${tasks}/nowhere`),
    fetch(`${tasks}/tasks`, { method: 'POST', headers: json, body: JSON.stringify({ title: 'a visit' }) }),
    fetch(`${tasks}/tasks/events`, { signal: stream.signal }),
    fetch(link),
    fetch(`${link}?${Math.random()}`),
    fetch(`${expander}/api?u=http://127.0.0.1:1/${Math.random()}`),
    fetch(`${expander}/?u=http://127.0.0.1:1/${Math.random()}`),
  ];
  for (const answer of requests) answer.then((response) => response.body?.cancel()).catch(() => {});
  await Promise.allSettled(requests);
  stream.abort();
}
