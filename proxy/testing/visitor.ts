import { type Answer, ask, type Question } from './ask.ts';

export interface ListedTask {
  id: string;
  title: string;
  finished: boolean;
  /** Where its link leads: `/task/<id>/finish` or `/task/<id>/unfinish`. */
  link: string;
}

/** Somebody with a browser's memory for cookies and forms, and none of its other traits. */
export interface Visitor {
  get(path: string, question?: Question): Promise<Answer>;
  /** Sends the form of the main page as it stands there. */
  add(title: string): Promise<Answer>;
  /** Sends any fields to `POST /task`. */
  post(fields: Record<string, string>, question?: Question): Promise<Answer>;
  /** The `_csrf` of the form on the main page. */
  token(): Promise<string>;
  /** The tasks of the main page, top to bottom. */
  tasks(): Promise<ListedTask[]>;
}

/** A new visitor of the tasks application on `port` of 127.0.0.1. */
export function visitor(port: number, host = `127.0.0.1:${port}`): Visitor {
  let cookie = '';
  const get = async (path: string, question: Question = {}) => {
    const answer = await ask(port, path, {
      host,
      ...question,
      headers: { Cookie: cookie, ...question.headers },
    });
    const [set] = answer.headers['set-cookie'] ?? [];
    if (set) cookie = set.split(';')[0] ?? '';
    return answer;
  };
  const token = async () => /name="_csrf" value="([^"]+)"/.exec((await get('/')).body)?.[1] ?? '';
  const post = (fields: Record<string, string>, question: Question = {}) =>
    get('/task', {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      ...question,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...question.headers },
    });
  return {
    get,
    token,
    post,
    add: async (title) => post({ title, _csrf: await token() }),
    tasks: async () => listed((await get('/')).body),
  };
}

function listed(html: string): ListedTask[] {
  const items = html.matchAll(/<li id="task-([^"]+)"([^>]*)>(.*?)<\/li>/gs);
  return [...items].map(([, id = '', attributes = '', item = '']) => {
    const [, element, title = ''] =
      /<(s|span)\b[^>]*>(.*?)<\/\1>/s.exec(item.replace(/<a\b.*?<\/a>/gs, '')) ?? [];
    return {
      id,
      title: unescaped(title),
      finished: /\bclass="finished"/.test(attributes) && element === 's',
      link: /href="(\/task\/[^"]+)"/.exec(item)?.[1] ?? '',
    };
  });
}

const unescaped = (html: string) =>
  html.replace(
    /&(lt|gt|quot|#39|amp);/g,
    (_, name) => ({ lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' })[name as 'lt'] ?? '',
  );
