import type { Answer, FetchHopOptions } from '../expansion/expansion.ts';
import { decodeContent } from './content-encoding.ts';
import type { Request, Response } from './exchange.ts';
import { answerOf } from './fetch-hop.ts';
import { mayBePage, readPage } from './page.ts';
import type { ResponseHead } from './response-head.ts';

/** Bytes of a page that are read: redirects in it are at its beginning. */
const maxPageSize = 64 * 1024;

/** An answer, and whether GET may find a redirect in its body. */
export interface Asked {
  answer: Answer;
  isPage: boolean;
}

/** Makes one request as part of a chain that goes where browsers go. GET reads the beginning of the body, if it is a page. */
export function createAsk(request: Request) {
  return async (
    url: URL,
    method: 'HEAD' | 'GET',
    { cookie, signal }: Pick<FetchHopOptions, 'cookie' | 'signal'>,
  ): Promise<Asked> => {
    const headers = cookie ? ['Cookie', cookie] : [];
    if (method === 'GET') headers.push('Accept-Encoding', 'identity');
    const bodyLimit = (head: ResponseHead) => (isPage(head) ? maxPageSize : 0);
    const response = await request(url, { method, headers, bodyLimit, signal });
    return { answer: await browserAnswer(url, response, method), isPage: isPage(response) };
  };
}

async function browserAnswer(url: URL, response: Response, method: 'HEAD' | 'GET'): Promise<Answer> {
  const { headers, body } = response;
  const answer: Answer = answerOf(response, method);
  if (headers['set-cookie']?.length) answer.setCookies = headers['set-cookie'];
  if (isRedirect(response)) return answer;
  const content = await decodeContent(body, headers['content-encoding'], maxPageSize);
  const { refresh, title } = readPage(url, response, content);
  if (refresh) answer.refresh = refresh;
  if (title) answer.title = title;
  if (method === 'GET' && isPage(response)) answer.bytesRead = body.length;
  return answer;
}

function isPage(head: ResponseHead): boolean {
  return !isRedirect(head) && mayBePage(head);
}

/** Whether browsers follow the `Location` before they look at anything else. */
function isRedirect({ status, headers }: ResponseHead): boolean {
  return [301, 302, 303, 307, 308].includes(status) && Boolean(headers.location?.trim());
}
