import type { Stack } from '../native/stack.ts';

/** One of everything that a stack's users do: reads, a write, an expansion, the same from the cache, a bad path. */
export async function ask({ expander, tasks }: Stack['urls']): Promise<void> {
  const json = { Accept: 'application/json', 'Content-Type': 'application/json' };
  const link = `${expander}/api?u=${encodeURIComponent(`http://127.0.0.1:${new URL(tasks).port}/public/x`)}`;
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
