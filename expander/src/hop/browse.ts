import { noTurns } from '@longhand/shared/turns.ts';
import { LRUCache } from 'lru-cache';
import { hopTime, within } from '../expansion/deadline.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { FetchHopOptions, HopResponse } from '../expansion/expansion.ts';
import { asInterrupted } from '../expansion/lifetime.ts';
import { readStrictTransport } from '../expansion/strict-transport.ts';
import { clientOf } from '../expansion/turn.ts';
import { decodeContent } from './content-encoding.ts';
import type { Request, RequestOptions, Response } from './exchange.ts';
import { hopResponse } from './fetch-hop.ts';
import { fileOf } from './file.ts';
import { readDocument } from './html-document.ts';
import type { ResponseHead } from './response-head.ts';
import { isDecidedByContent, type Shown } from './shown.ts';

/** Bytes of a page that are read: redirects in it are at its beginning. */
const maxPageSize = 64 * 1024;

/** Bytes of a page that take a millisecond to parse, at worst. */
const quickPage = 4 * 1024;

/** The share of a hop's time after which a host that has not responded to HEAD gets a GET too: some hosts ignore HEAD. */
const patience = 1 / 2;

/** The share of a hop's time after which it settles for the response to HEAD. */
const settling = 11 / 12;

/** The memory of origins that need GET: its size in characters, and its milliseconds. */
const memory = {
  maxSize: 4 * 1024 * 1024,
  ttl: 10 * 60 * 1_000,
  sizeCalculation: (url: string, origin: string) => url.length + origin.length,
};

/** A response, and whether GET may find out more. */
interface Asked {
  answer: HopResponse;
  isUncertain: boolean;
}

/**
 * Finds out where a browser would go with as few requests as possible: HEAD, then GET if HEAD is refused, reset or too slow,
 * or if the page may contain a redirect. After HEAD was useless for two URLs of an origin, only GET is sent there.
 *
 * @param time milliseconds for one hop.
 * @param turns for pages that take long to parse.
 */
export function createBrowse(request: Request, time = hopTime, turns = noTurns) {
  /** The first URL of an origin that needs GET; empty after a second one. */
  const needGet = new LRUCache<string, string>(memory);

  return async (
    url: URL,
    { cookie, signal, turns: waiting }: Omit<FetchHopOptions, 'follow'>,
  ): Promise<HopResponse> => {
    const { origin, href } = url;
    const deadline = performance.now() + time * settling;
    const done = new AbortController();
    const headers = cookie ? ['Cookie', cookie] : [];
    const options = {
      headers,
      signal: signal ? AbortSignal.any([signal, done.signal]) : done.signal,
    };
    const turn = () => turns(new Set(waiting?.names().map(clientOf)), options.signal);
    let page: Promise<Asked> | undefined;
    const getPage = async () =>
      asked(url, await request(url, { ...options, ...pageOptions(headers) }), 'GET', turn);
    const get = () => (page ??= getPage());
    /** The response to GET if it may say more and arrives in time; else the response to HEAD. */
    const settled = async (head: Asked): Promise<HopResponse> => {
      if (!head.isUncertain && !isRefusal(head)) return head.answer;
      const unlessFailed = get().catch(() => undefined);
      const inTime = await within(deadline - performance.now(), unlessFailed, undefined);
      return inTime?.answer ?? asInterrupted(head.answer);
    };
    try {
      const needing = needGet.get(origin);
      if (needing === '' || needing === href) return (await get()).answer;
      const byHead = request(url, { ...options, method: 'HEAD' })
        .then((response) => asked(url, response, 'HEAD', turn))
        .catch(unlessUnanswered);
      const head = await within(time * patience, byHead, null);
      // It may still be under way.
      const late = () => byHead.then((answered) => (answered && !isRefusal(answered) ? answered : get()));
      const first = head ?? (await Promise.any([late(), get()]).catch(get));
      const answer = first.answer.method === 'GET' ? first.answer : await settled(first);
      const saysMore = !head || (isRefusal(head) && answer.status !== head.answer.status);
      if (answer.method === 'GET' && saysMore) needGet.set(origin, needing === undefined ? href : '');
      return answer;
    } finally {
      // Cancels the request that is still under way.
      done.abort();
    }
  };
}

/** Hosts refuse HEAD with any status from 400 on, though they redirect GET. */
function isRefusal({ answer }: Asked): boolean {
  return answer.status >= 400;
}

/** Null if the connection was closed, or the response is not HTTP. */
function unlessUnanswered(error: unknown): null {
  const cause = error instanceof ExpansionError ? error.cause : undefined;
  const { code = '' } = (cause ?? {}) as NodeJS.ErrnoException;
  if (['ECONNRESET', 'EPIPE', 'ERR_NOT_HTTP'].includes(code)) return null;
  throw error;
}

/** `identity` is the cheapest to read. Websites that detect browsers look for `Upgrade-Insecure-Requests`. */
const asBrowsers = ['Accept-Encoding', 'identity', 'Upgrade-Insecure-Requests', '1'];

/** A GET that reads the beginning of the body, if it is a page. */
function pageOptions(headers: readonly string[]): RequestOptions {
  const bodyLimit = (head: ResponseHead) => (!isRedirect(head) && isDecidedByContent(head) ? maxPageSize : 0);
  return { method: 'GET', headers: [...headers, ...asBrowsers], bodyLimit };
}

/** What a response says to a browser. */
async function asked(
  url: URL,
  response: Response,
  method: HopResponse['method'],
  turn: () => Promise<void>,
): Promise<Asked> {
  const { headers, body } = response;
  const answer: HopResponse = hopResponse(response, method);
  if (headers['set-cookie']?.length) answer.setCookies = headers['set-cookie'];
  const strictTransport = readStrictTransport(headers['strict-transport-security'] ?? '');
  if (strictTransport) answer.strictTransport = strictTransport;
  if (isRedirect(response)) return { answer, isUncertain: false };
  const { content, isDamaged } = await decodeContent(
    body,
    headers['content-encoding'],
    url.protocol === 'https:',
    maxPageSize,
  );
  if (content.length > quickPage) await turn();
  const { shown, refresh, title, scriptRedirect, isCut } = readDocument(url, response, content);
  const isDecided = !isDecidedByContent(response);
  if (refresh) answer.refresh = refresh;
  if (title) answer.title = title;
  if (scriptRedirect) answer.scriptRedirect = true;
  if (isFile(response, shown)) answer.file = fileOf(url, response);
  if (method === 'GET' && !isDecided) answer.bytesRead = body.length;
  if (isDamaged || isCut || Math.max(body.length, content.length) >= maxPageSize) answer.incomplete = true;
  return {
    answer: response.isCut ? asInterrupted(answer) : answer,
    isUncertain: !isDecided || isEmpty(response),
  };
}

/** Whether a browser saves it, or shows it instead of a page. */
function isFile({ status }: ResponseHead, shown: Shown): boolean {
  return status >= 200 && status <= 299 && (shown === 'file' || shown === 'other');
}

/** Whether a response to HEAD says too little, so that GET may find out more. */
function isEmpty({ status, headers }: ResponseHead): boolean {
  return [204, 205, 304].includes(status) || headers['content-length'] === '0' || !headers['content-type'];
}

/** Whether browsers follow the `Location` before they look at anything else. */
function isRedirect({ status, headers }: ResponseHead): boolean {
  return [301, 302, 303, 307, 308].includes(status) && Boolean(headers.location?.trim());
}
