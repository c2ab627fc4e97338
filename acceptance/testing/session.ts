import { type RequestOptions, send } from '@longhand/shared/testing/send.ts';

/** Returns a client for tasks that keeps cookies. The given request options apply to every request. */
export function openSession(
  port: number,
  host = `127.0.0.1:${port}`,
  { headers: own, ...given }: RequestOptions = {},
) {
  const cookies = new Map<string, string>();
  const cookie = () => [...cookies.values()].join('; ');
  const get = async (path: string, options: RequestOptions = {}) => {
    const headers = { Cookie: cookie(), ...own, ...options.headers };
    const response = await send(port, path, { host, ...given, ...options, headers });
    for (const cookie of response.headers['set-cookie'] ?? [])
      cookies.set(cookie.replace(/=.*/, ''), cookie.replace(/;.*/, ''));
    return response;
  };
  /** Reads `_csrf` from the form. */
  const token = async () => /name="_csrf" value="([^"]+)"/.exec((await get('/')).body)?.[1] ?? '';
  /** Submits fields to `POST /task`. */
  const post = (fields: Record<string, string>) =>
    get('/task', {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
  return {
    get,
    token,
    cookie,
    post,
    add: async (title: string) => post({ title, _csrf: await token() }),
    /** Returns the tasks on the first page. */
    async tasks(): Promise<{ _id: string; title: string }[]> {
      return JSON.parse((await get('/tasks', { headers: { Accept: 'application/json' } })).body).tasks;
    },
  };
}
