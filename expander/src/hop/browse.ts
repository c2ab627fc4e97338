import { timeUntil, within } from '@longhand/shared/durations.ts';
import { noTurns } from '@longhand/shared/turns.ts';
import { LRUCache } from 'lru-cache';
import { atMost } from '../expansion/at-most.ts';
import { hopTime } from '../expansion/deadline.ts';
import { clientsOf, type FetchHop, type HopResponse } from '../expansion/expansion.ts';
import { isOtherDomain } from '../expansion/host.ts';
import { asInterrupted } from '../expansion/lifetime.ts';
import { readReferrerPolicy } from '../expansion/referrer.ts';
import { nextStep, redirects } from '../expansion/session.ts';
import { readStrictTransport } from '../expansion/strict-transport.ts';
import { isUpgrade } from '../expansion/target.ts';
import { decodeContent } from './content-encoding.ts';
import type { Request, RequestOptions, Response } from './exchange.ts';
import { hopResponse } from './fetch-hop.ts';
import { fileOf } from './file.ts';
import { readDocument } from './html-document.ts';
import type { ResponseHead } from './response-head.ts';
import { isDecidedByContent } from './shown.ts';

/** Maximum bytes of a page to read. Redirects are usually near the start. */
const maxPageSize = 64 * 1024;

/** Fraction of the hop timeout after which to send GET if HEAD is still unanswered. Some hosts ignore HEAD. */
const headShare = 1 / 2;

/** Fraction of the hop timeout after which to stop waiting for GET and use the response to HEAD. */
const getShare = 11 / 12;

/** Limits for the cache of origins that differ for HEAD and GET. Times are in milliseconds. */
const differingLimits = { ...atMost(10_000), ttl: 10 * 60 * 1_000 };

/**
 * Creates a `FetchHop` that finds a browser's next URL. Browsers send GET, so a response to HEAD is only a hint: it counts if it
 * leads to another website, as with a shortener. In all other cases GET decides. Origins whose responses to HEAD and GET differ
 * receive only GET for ten minutes.
 *
 * @param time the hop timeout in milliseconds.
 * @param turns schedules the parsing of pages.
 */
export function createBrowse(request: Request, time = hopTime, turns = noTurns): FetchHop {
  const differing = new LRUCache<string, true>(differingLimits);

  return async (url, { chain, cookie, referer, skipHead }) => {
    const { signal } = chain;
    const deadline = performance.now() + time * getShare;
    const done = new AbortController();
    const headers = [...(cookie ? ['Cookie', cookie] : []), ...(referer ? ['Referer', referer] : [])];
    const options = { headers, signal: signal ? AbortSignal.any([signal, done.signal]) : done.signal };
    const turn = () => turns(() => clientsOf(chain), options.signal);
    const get = () =>
      request(url, { ...options, ...asBrowsers(headers) }).then((response) => readPage(url, response, turn));
    try {
      if (skipHead || differing.has(url.origin)) return await get();
      let head = null as HopResponse | null;
      /** Resolves with null if GET decides. */
      const redirect = request(url, { ...options, method: 'HEAD' })
        .then((response) => {
          head = withState(url, response, 'HEAD');
          return leadsElsewhere(url, head) ? head : null;
        })
        .catch(nullIfNoResponse);
      const early = await within(time * headShare, redirect, null);
      if (early) return early;
      const byGet = get();
      // The response to HEAD may still arrive first.
      const first = Promise.any([redirect.then((late) => late ?? byGet), byGet]);
      const result = await within(timeUntil(deadline), first, null).catch(() => null);
      if (!result) return head ? asInterrupted(head) : await byGet;
      if (result.method === 'GET' && differs(head, result)) differing.set(url.origin, true);
      return result;
    } finally {
      // Cancel the slower request.
      done.abort();
    }
  };
}

/** Whether the response redirects to another website, or to the same URL with https, which servers do for all methods. */
function leadsElsewhere(url: URL, head: HopResponse): boolean {
  const { kind, at } = nextStep({ text: url.href, url }, head, 'all');
  return kind !== null && (isOtherDomain(url, at.url) || isUpgrade(url, at.url));
}

function differs(head: HopResponse | null, { status, location }: HopResponse): boolean {
  return head?.status !== status || head.location !== location;
}

/** Errors that tell nothing about the response to GET. */
const headErrors = new Set(['ECONNRESET', 'EPIPE', 'ERR_NOT_HTTP', 'ERR_AMBIGUOUS', 'ERR_HEADERS_TOO_LONG']);

/** Returns null if the host closed the connection or sent an invalid response. @throws all other errors. */
function nullIfNoResponse(error: unknown): null {
  const { code = '' } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  if (headErrors.has(code)) return null;
  throw error;
}

/** Requests the `identity` encoding to avoid decoding. Some websites expect `Upgrade-Insecure-Requests` from browsers. */
const asBrowsers = (headers: readonly string[]): RequestOptions => ({
  method: 'GET',
  headers: [...headers, 'Accept-Encoding', 'identity', 'Upgrade-Insecure-Requests', '1'],
  bodyLimit: (head) => (!isRedirect(head) && isDecidedByContent(head) ? maxPageSize : 0),
});

/** Matches a `Clear-Site-Data` header with `"cookies"` or `"*"`. */
const clearsCookies = /(?:^|,)[\t ]*"(?:cookies|\*)"[\t ]*(?:,|$)/;

/** Converts the response, with the cookies and the HSTS policy that it sets. */
function withState(url: URL, response: Response, method: HopResponse['method']): HopResponse {
  const { headers } = response;
  const result = hopResponse(response, method);
  if (headers['set-cookie']?.length) result.setCookies = headers['set-cookie'];
  const isSecure = url.protocol === 'https:';
  if (isSecure && clearsCookies.test(`${headers['clear-site-data'] ?? ''}`)) result.clearsCookies = true;
  const referrerPolicy = readReferrerPolicy(`${headers['referrer-policy'] ?? ''}`);
  if (referrerPolicy) result.referrerPolicy = referrerPolicy;
  const strictTransport = readStrictTransport(headers['strict-transport-security'] ?? '');
  if (strictTransport) result.strictTransport = strictTransport;
  return result;
}

/** Interprets the response to GET like a browser. */
async function readPage(
  url: URL,
  response: Response,
  turn: () => Promise<void> | undefined,
): Promise<HopResponse> {
  const result = withState(url, response, 'GET');
  if (isRedirect(response)) return result;
  const { status, headers, body } = response;
  const isEncrypted = url.protocol === 'https:';
  const { content, isDamaged } = await decodeContent(
    body,
    headers['content-encoding'],
    isEncrypted,
    maxPageSize,
  );
  const waiting = turn();
  if (waiting) await waiting;
  const { shown, refresh, later, title, scriptRedirect, referrerPolicy, isCut } = readDocument(
    url,
    response,
    content,
  );
  const isSuccess = status >= 200 && status <= 299;
  if (referrerPolicy) result.referrerPolicy = referrerPolicy;
  if (refresh) result.refresh = refresh;
  else if (later) result.laterRefresh = later;
  if (title) result.title = title;
  if (scriptRedirect) result.scriptRedirect = true;
  if (isSuccess && shown === 'file') result.file = { ...fileOf(url, response), saved: true };
  if (isSuccess && shown === 'other') result.file = fileOf(url, response);
  if (isDecidedByContent(response)) result.bytesRead = body.length;
  const isPartial = isCut || lacksHeaders(response) || Math.max(body.length, content.length) >= maxPageSize;
  if (isDamaged || isPartial) result.incomplete = true;
  return response.isCut ? asInterrupted(result) : result;
}

/** Whether a header is missing that could turn the response into a redirect or a file. */
function lacksHeaders({ omitted = [] }: ResponseHead): boolean {
  return omitted.some((name) => name === 'refresh' || /^(?:content|transfer)-/.test(name));
}

/** Whether browsers follow the `Location` and ignore the body. */
function isRedirect({ status, headers }: ResponseHead): boolean {
  return redirects.all.includes(status) && Boolean(headers.location?.trim());
}
