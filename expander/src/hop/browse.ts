import { LRUCache } from 'lru-cache';
import { hopTime, within } from '../expansion/deadline.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { Answer, FetchHopOptions } from '../expansion/expansion.ts';
import { asIncomplete } from '../expansion/lifetime.ts';
import { decodeContent } from './content-encoding.ts';
import type { Request, RequestOptions, Response } from './exchange.ts';
import { answerOf } from './fetch-hop.ts';
import { fileOf } from './file.ts';
import { mayBePage, readPage } from './page.ts';
import type { ResponseHead } from './response-head.ts';

/** Bytes of a page that are read: redirects in it are at its beginning. */
const maxPageSize = 64 * 1024;

/** The share of a hop's time after which a host that has not answered HEAD is asked by GET too: some answer nothing else. */
const patience = 1 / 2;

/** The share of a hop's time after which it settles for the response to HEAD. */
const settling = 11 / 12;

/** Characters of what is remembered about origins, and for how many milliseconds. */
const memory = {
  maxSize: 4 * 1024 * 1024,
  ttl: 10 * 60 * 1_000,
  sizeCalculation: (url: string, origin: string) => url.length + origin.length,
};

/** An answer, and whether a GET may find a redirect in the body. */
interface Asked {
  answer: Answer;
  isPage: boolean;
}

/** The outcome of a HEAD request: `none` if the connection was closed, or the response is not HTTP. */
type Head = { result: 'useful' | 'refusal'; asked: Asked } | { result: 'none' | 'late' };

/**
 * Finds out where a browser would go with as few requests as possible: HEAD, then GET if HEAD is refused, reset or too slow,
 * or if the page may contain a redirect. After HEAD was useless for two URLs of an origin, only GET is sent there.
 *
 * @param time milliseconds for one hop.
 */
export function createBrowse(request: Request, time = hopTime) {
  /** The first URL of an origin that needs GET; empty after a second one. */
  const needGet = new LRUCache<string, string>(memory);

  return async (
    url: URL,
    { cookie, signal, beforeContact }: Omit<FetchHopOptions, 'follow'>,
  ): Promise<Answer> => {
    const { origin, href } = url;
    const pageDeadline = performance.now() + time * settling;
    const done = new AbortController();
    const headers = cookie ? ['Cookie', cookie] : [];
    const options = {
      headers,
      signal: signal ? AbortSignal.any([signal, done.signal]) : done.signal,
      beforeContact,
    };
    const head = async () => asked(url, await request(url, { ...options, method: 'HEAD' }), 'HEAD');
    const get = async () => asked(url, await request(url, { ...options, ...pageOptions(headers) }), 'GET');
    try {
      const needing = needGet.get(origin);
      if (needing === '' || needing === href) return (await get()).answer;
      const byHead = head().then(judged, unlessUnanswered);
      const first = await within(time * patience, byHead, { result: 'late' } as const);
      if (first.result === 'useful') return await withPage(first.asked, get, pageDeadline);
      const answer = await withoutHead(first, byHead, get, pageDeadline);
      const isBetter = first.result !== 'refusal' || answer.status !== first.asked.answer.status;
      if (answer.method === 'GET' && isBetter) needGet.set(origin, needing === undefined ? href : '');
      return answer;
    } finally {
      // Cancels the request that is still under way.
      done.abort();
    }
  };
}

/** `identity` costs least to read; websites that check what browsers send look for the other. */
const asBrowsers = ['Accept-Encoding', 'identity', 'Upgrade-Insecure-Requests', '1'];

/** A GET that reads the beginning of the body, if it is a page. */
function pageOptions(headers: readonly string[]): RequestOptions {
  const bodyLimit = (head: ResponseHead) => (!isRedirect(head) && mayBePage(head) ? maxPageSize : 0);
  return { method: 'GET', headers: [...headers, ...asBrowsers], bodyLimit };
}

/** What a response says to a browser. */
async function asked(url: URL, response: Response, method: Answer['method']): Promise<Asked> {
  const { headers, body } = response;
  const isPage = mayBePage(response);
  const answer: Answer = answerOf(response, method);
  if (headers['set-cookie']?.length) answer.setCookies = headers['set-cookie'];
  if (isRedirect(response)) return { answer, isPage: false };
  const content = await decodeContent(body, headers['content-encoding'], maxPageSize);
  const { refresh, title, scriptRedirect } = readPage(url, response, content);
  const file = fileOf(url, response);
  if (refresh) answer.refresh = refresh;
  if (title) answer.title = title;
  if (scriptRedirect) answer.scriptRedirect = true;
  if (file) answer.file = file;
  if (method === 'GET' && isPage) answer.bytesRead = body.length;
  return { answer: response.isCut ? asIncomplete(answer) : answer, isPage };
}

/** Whether browsers follow the `Location` before they look at anything else. */
function isRedirect({ status, headers }: ResponseHead): boolean {
  return [301, 302, 303, 307, 308].includes(status) && Boolean(headers.location?.trim());
}

/** The answer to GET for a page, if it comes in time; else the answer to HEAD. */
async function withPage(asked: Asked, get: () => Promise<Asked>, deadline: number): Promise<Answer> {
  return asked.isPage ? byGet(asked, get(), deadline) : asked.answer;
}

/** The answer to GET; the one to HEAD if GET fails or takes too long. */
async function byGet({ answer }: Asked, get: Promise<Asked>, deadline: number): Promise<Answer> {
  const unlessFailed = get.catch(() => undefined);
  const inTime = await within(deadline - performance.now(), unlessFailed, undefined);
  return inTime?.answer ?? asIncomplete(answer);
}

/** The answer if HEAD has not helped so far. It may still be under way. */
async function withoutHead(
  first: Head,
  byHead: Promise<Head>,
  get: () => Promise<Asked>,
  deadline: number,
): Promise<Answer> {
  if (first.result === 'refusal') return byGet(first.asked, get(), deadline);
  if (first.result !== 'late') return (await get()).answer;
  const page = get();
  const useful = byHead.then((head) => (head.result === 'useful' ? head.asked : Promise.reject()));
  const asked = await Promise.any([useful, page]).catch(() => page);
  return asked.answer.method === 'HEAD' ? withPage(asked, () => page, deadline) : asked.answer;
}

/** Hosts refuse HEAD with any status from 400 on, though they redirect GET. */
function judged(asked: Asked): Head {
  return { result: asked.answer.status < 400 ? 'useful' : 'refusal', asked };
}

function unlessUnanswered(error: unknown): Head {
  const cause = error instanceof ExpansionError ? error.cause : undefined;
  const { code = '' } = (cause ?? {}) as NodeJS.ErrnoException;
  if (['ECONNRESET', 'EPIPE', 'ERR_NOT_HTTP'].includes(code)) return { result: 'none' };
  throw error;
}
