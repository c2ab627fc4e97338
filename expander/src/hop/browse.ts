import { LRUCache } from 'lru-cache';
import { hopTime, within } from '../expansion/deadline.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { Answer, FetchHopOptions } from '../expansion/expansion.ts';
import { asProvisional } from '../expansion/lifetime.ts';
import { decodeContent } from './content-encoding.ts';
import type { Request, RequestOptions, Response } from './exchange.ts';
import { answerOf } from './fetch-hop.ts';
import { fileOf } from './file.ts';
import { mayBePage, readPage } from './page.ts';
import type { ResponseHead } from './response-head.ts';

/** Bytes of a page that are read: redirects in it are at its beginning. */
const maxPageSize = 64 * 1024;

/** Statuses with which hosts refuse HEAD where GET would be redirected. */
const refusals = new Set([400, 403, 404, 405, 500, 501]);

/** Milliseconds without an answer to HEAD after which a host is asked by GET too: some answer nothing else. */
const patience = 1_500;

/** Milliseconds before the end of a hop's time when it settles for the response to HEAD. */
const reserve = 250;

/** How many origins are remembered to need GET, and for how many milliseconds. */
const memory = { max: 10_000, ttl: 10 * 60 * 1_000 };

/** An answer, and whether GET may find a redirect in its body. */
interface Asked {
  answer: Answer;
  isPage: boolean;
}

/**
 * Finds out where a browser would go by as little as shows it: by HEAD, and by GET where that is refused, reset or not
 * answered in time, and for pages that may have a redirect in them. An origin where HEAD did not help is then asked by
 * GET alone.
 */
export function createBrowse(request: Request) {
  const needGet = new LRUCache<string, true>(memory);

  return async (url: URL, { cookie, signal }: Omit<FetchHopOptions, 'follow'>): Promise<Answer> => {
    const pageDeadline = performance.now() + hopTime - reserve;
    const done = new AbortController();
    const headers = cookie ? ['Cookie', cookie] : [];
    const options = { headers, signal: signal ? AbortSignal.any([signal, done.signal]) : done.signal };
    const head = async () => asked(url, await request(url, { ...options, method: 'HEAD' }), 'HEAD');
    const get = async () => asked(url, await request(url, { ...options, ...pageOptions(headers) }), 'GET');
    try {
      if (needGet.has(url.origin)) return (await get()).answer;
      const byHead = head().catch(unlessReset);
      const first = await within(patience, byHead, undefined);
      if (first && isUseful(first)) return await withPage(first, get, pageDeadline);
      const isLate = first === undefined;
      const second = isLate ? await eitherOf(byHead, get(), pageDeadline) : (await get()).answer;
      if (second.method === 'GET' && second.status !== first?.answer.status) needGet.set(url.origin, true);
      return second;
    } finally {
      // A request that is still under way is not needed any more.
      done.abort();
    }
  };
}

/** A GET that reads the beginning of the body, if it is a page. */
function pageOptions(headers: readonly string[]): RequestOptions {
  const bodyLimit = (head: ResponseHead) => (isPage(head) ? maxPageSize : 0);
  return { method: 'GET', headers: [...headers, 'Accept-Encoding', 'identity'], bodyLimit };
}

/** What a response says to a browser. */
async function asked(url: URL, response: Response, method: Answer['method']): Promise<Asked> {
  const { headers, body } = response;
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
  if (method === 'GET' && isPage(response)) answer.bytesRead = body.length;
  return { answer, isPage: isPage(response) };
}

function isPage(head: ResponseHead): boolean {
  return !isRedirect(head) && mayBePage(head);
}

/** Whether browsers follow the `Location` before they look at anything else. */
function isRedirect({ status, headers }: ResponseHead): boolean {
  return [301, 302, 303, 307, 308].includes(status) && Boolean(headers.location?.trim());
}

/** The answer to HEAD, or that to GET if it may be a page and can be had in time. */
async function withPage(asked: Asked, get: () => Promise<Asked>, deadline: number): Promise<Answer> {
  if (!asked.isPage) return asked.answer;
  const request = get().catch(() => undefined);
  const page = await within(deadline - performance.now(), request, undefined);
  return page?.answer ?? asProvisional(asked.answer);
}

/** The answer to HEAD or to GET, whichever comes first. */
async function eitherOf(head: Promise<Asked | null>, get: Promise<Asked>, deadline: number): Promise<Answer> {
  const usefulHead = head.then((asked) => (asked && isUseful(asked) ? asked : Promise.reject()));
  const first = await Promise.any([usefulHead, get]).catch(() => get);
  return first.answer.method === 'HEAD' ? withPage(first, () => get, deadline) : first.answer;
}

function isUseful({ answer }: Asked): boolean {
  return !refusals.has(answer.status);
}

/** Null for a connection that was closed without an answer. */
function unlessReset(error: unknown): null {
  const cause = error instanceof ExpansionError ? error.cause : undefined;
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  if (code === 'ECONNRESET' || code === 'EPIPE') return null;
  throw error;
}
