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
