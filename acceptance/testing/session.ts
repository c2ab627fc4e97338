import { type RequestOptions, send, type TestResponse } from '@longhand/shared/testing/send.ts';

export interface ListedTask {
  id: string;
  title: string;
}

/** A client of the tasks application that keeps its cookie and reads forms. */
export interface Session {
  get(path: string, options?: RequestOptions): Promise<TestResponse>;
  /** Submits the form of the main page. */
  add(title: string): Promise<TestResponse>;
  /** Submits any fields to `POST /task`. */
  post(fields: Record<string, string>): Promise<TestResponse>;
  /** Reads `_csrf` from the form on the main page. */
  token(): Promise<string>;
  /** The session's cookies, for a `Cookie` header. */
  cookie(): string;
  /** Reads the tasks on the main page, top to bottom. */
  tasks(): Promise<ListedTask[]>;
}

/** A new session with the tasks application on `port` of 127.0.0.1. All its requests have the `options`. */
export function openSession(
  port: number,
  host = `127.0.0.1:${port}`,
  { headers: own, ...given }: RequestOptions = {},
): Session {
  const cookies = new Map<string, string>();
  const cookie = () => [...cookies.values()].join('; ');
  const get = async (path: string, options: RequestOptions = {}) => {
    const headers = { Cookie: cookie(), ...own, ...options.headers };
    const response = await send(port, path, { host, ...given, ...options, headers });
    for (const cookie of response.headers['set-cookie'] ?? [])
      cookies.set(cookie.replace(/=.*/, ''), cookie.replace(/;.*/, ''));
    return response;
  };
  const token = async () => /name="_csrf" value="([^"]+)"/.exec((await get('/')).body)?.[1] ?? '';
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
    add: async (title) => post({ title, _csrf: await token() }),
    tasks: async () => parseTasks((await get('/')).body),
  };
}

function parseTasks(html: string): ListedTask[] {
  const items = html.matchAll(/<li id="task-([^"]+)"[^>]*>(.*?)<\/li>/gs);
  return [...items].map(([, id = '', item = '']) => {
    const [, , title = ''] = /<(s|span)\b[^>]*>(.*?)<\/\1>/s.exec(item.replace(/<a\b.*?<\/a>/gs, '')) ?? [];
    return { id, title: unescapeHtml(title) };
  });
}

const unescapeHtml = (html: string) =>
  html.replace(
    /&(lt|gt|quot|#39|amp);/g,
    (_, name) => ({ lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' })[name as 'lt'] ?? '',
  );
