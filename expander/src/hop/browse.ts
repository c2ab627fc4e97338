import { within } from '@longhand/shared/durations.ts';
import { noTurns } from '@longhand/shared/turns.ts';
import { LRUCache } from 'lru-cache';
import { hopTime } from '../expansion/chain.ts';
import { clientOf, type FetchHopOptions, type HopResponse } from '../expansion/expansion.ts';
import { asInterrupted } from '../expansion/lifetime.ts';
import { readStrictTransport } from '../expansion/strict-transport.ts';
import { decodeContent } from './content-encoding.ts';
import type { Request, RequestOptions, Response } from './exchange.ts';
import { hopResponse } from './fetch-hop.ts';
import { fileOf } from './file.ts';
import { readDocument } from './html-document.ts';
import type { ResponseHead } from './response-head.ts';
import { isDecidedByContent } from './shown.ts';

/** Bytes to read of a page: redirects are at its beginning. */
const maxPageSize = 64 * 1024;

/** Bytes of a page that parse within a millisecond. */
const quickPage = 4 * 1024;

/** The share of a hop's time to wait for a response to HEAD before also sending GET, because some hosts ignore HEAD. */
const patience = 1 / 2;

/** The share of a hop's time to wait for a response to GET after a response to HEAD. */
const settling = 11 / 12;

/** Limits for the list of origins that need GET. Sizes are in characters, times in milliseconds. */
const memory = {
  maxSize: 4 * 1024 * 1024,
  ttl: 10 * 60 * 1_000,
  sizeCalculation: (url: string, origin: string) => url.length + origin.length,
};

interface Found {
  answer: HopResponse;
  /** Whether GET may find out more. */
  isUncertain: boolean;
}

/**
 * Finds out where a browser would go, with few requests. HEAD comes first. GET follows if the host refuses, resets or ignores
 * HEAD, or if the page may contain a redirect. After two URLs for which HEAD was useless, an origin gets only GET.
 *
 * @param time milliseconds for one hop.
 * @param turns turns of the event loop, for pages that are slow to parse.
 */
export function createBrowse(request: Request, time = hopTime, turns = noTurns) {
  /** The first URL of an origin that needs GET; empty after a second URL. */
  const needGet = new LRUCache<string, string>(memory);

  return async (
    url: URL,
    { cookie, signal, turns: waiting }: Omit<FetchHopOptions, 'follow'>,
  ): Promise<HopResponse> => {
    const { origin, href } = url;
    const deadline = performance.now() + time * settling;
    const done = new AbortController();
    const headers = cookie ? ['Cookie', cookie] : [];
    const options = { headers, signal: signal ? AbortSignal.any([signal, done.signal]) : done.signal };
    const turn = () => turns(new Set(waiting?.names().map(clientOf)), options.signal);
    let page: Promise<Found> | undefined;
    const get = () =>
      (page ??= request(url, { ...options, ...asBrowsers(headers) }).then((response) =>
        interpret(url, response, 'GET', turn),
      ));
    /** The response to GET if it may contain more and arrives in time; else the response to HEAD. */
    const settled = async (head: Found): Promise<HopResponse> => {
      if (!head.isUncertain && !isRefusal(head)) return head.answer;
      const unlessFailed = get().catch(() => undefined);
      const inTime = await within(deadline - performance.now(), unlessFailed, undefined);
      return inTime?.answer ?? asInterrupted(head.answer);
    };
    try {
      const needing = needGet.get(origin);
      if (needing === '' || needing === href) return (await get()).answer;
      const byHead = request(url, { ...options, method: 'HEAD' })
        .then((response) => interpret(url, response, 'HEAD', turn))
        .catch(unlessUnanswered);
      const head = await within(time * patience, byHead, null);
      // The response to HEAD may still come.
      const late = () => byHead.then((answered) => (answered && !isRefusal(answered) ? answered : get()));
      const first = head ?? (await Promise.any([late(), get()]).catch(get));
      const answer = first.answer.method === 'GET' ? first.answer : await settled(first);
      const saysMore = !head || (isRefusal(head) && answer.status !== head.answer.status);
      if (answer.method === 'GET' && saysMore) needGet.set(origin, needing === undefined ? href : '');
      return answer;
    } finally {
      // Cancels the other request.
      done.abort();
    }
  };
}

/** Hosts that redirect GET may refuse HEAD with any 4xx or 5xx. */
function isRefusal({ answer }: Found): boolean {
  return answer.status >= 400;
}

/** Null if the host closed the connection or did not send HTTP. */
function unlessUnanswered(error: unknown): null {
  const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'ERR_NOT_HTTP') return null;
  throw error;
}

/** `identity` needs no decoding. Some websites expect browsers to send `Upgrade-Insecure-Requests`. */
const asBrowsers = (headers: readonly string[]): RequestOptions => ({
  method: 'GET',
  headers: [...headers, 'Accept-Encoding', 'identity', 'Upgrade-Insecure-Requests', '1'],
  bodyLimit: (head) => (!isRedirect(head) && isDecidedByContent(head) ? maxPageSize : 0),
});

/** What a browser makes of a response. */
async function interpret(
  url: URL,
  response: Response,
  method: HopResponse['method'],
  turn: () => Promise<void>,
): Promise<Found> {
  const { status, headers, body } = response;
  const answer: HopResponse = hopResponse(response, method);
  if (headers['set-cookie']?.length) answer.setCookies = headers['set-cookie'];
  const strictTransport = readStrictTransport(headers['strict-transport-security'] ?? '');
  if (strictTransport) answer.strictTransport = strictTransport;
  if (isRedirect(response)) return { answer, isUncertain: false };
  const isEncrypted = url.protocol === 'https:';
  const { content, isDamaged } = await decodeContent(
    body,
    headers['content-encoding'],
    isEncrypted,
    maxPageSize,
  );
  if (content.length > quickPage) await turn();
  const { shown, refresh, title, scriptRedirect, isCut } = readDocument(url, response, content);
  const isPage = isDecidedByContent(response);
  const isSuccess = status >= 200 && status <= 299;
  if (refresh) answer.refresh = refresh;
  if (title) answer.title = title;
  if (scriptRedirect) answer.scriptRedirect = true;
  if (isSuccess && (shown === 'file' || shown === 'other')) answer.file = fileOf(url, response);
  if (method === 'GET' && isPage) answer.bytesRead = body.length;
  if (isDamaged || isCut || Math.max(body.length, content.length) >= maxPageSize) answer.incomplete = true;
  return {
    answer: response.isCut ? asInterrupted(answer) : answer,
    isUncertain: isPage || isEmpty(response),
  };
}

/** Whether a response to HEAD is uninformative. */
function isEmpty({ status, headers }: ResponseHead): boolean {
  return [204, 205, 304].includes(status) || headers['content-length'] === '0' || !headers['content-type'];
}

/** Whether browsers follow the `Location` and ignore the rest. */
function isRedirect({ status, headers }: ResponseHead): boolean {
  return [301, 302, 303, 307, 308].includes(status) && Boolean(headers.location?.trim());
}
