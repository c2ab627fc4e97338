/** What a browser has once it has seen the list. */
export interface TasksSession {
  headers: { cookie: string };
  token: string;
}

/** Opens the list at `url`. */
export async function openSession(url: string): Promise<TasksSession> {
  const page = await fetch(url);
  const [cookie = ''] = page.headers.get('set-cookie')?.split(';') ?? [];
  const token = /name="_csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  return { headers: { cookie }, token };
}

/** @returns the seconds that the import of `count` tasks took. */
export async function importTasks({ url }: { url: string }, count: number): Promise<number> {
  const body = Array.from({ length: count }, (_, i) => `${wordsOf(i)}\n`).join('');
  const headers = {
    'Content-Type': 'text/plain',
    Accept: 'application/json',
    'Sec-Fetch-Site': 'same-origin',
  };
  const started = performance.now();
  const response = await fetch(`${url}/tasks/import`, { method: 'POST', headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`The import was answered with ${response.status}: ${text}`);
  return (performance.now() - started) / 1_000;
}

const words =
  'call buy write ask send read milk letter dentist tomorrow invoice book holiday report mother'.split(' ');

/** A title that differs from all others, so that pages compress as those of people do. */
function wordsOf(i: number): string {
  const chosen = [7, 11, 13, 31].map(
    (step) => words[Math.floor((i * step * 2_654_435_761) / 1_024) % words.length],
  );
  return `${chosen.join(' ')} ${i}`;
}
