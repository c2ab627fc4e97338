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

/** Max bytes of a page to read. Redirects are usually near the start. */
const maxPageSize = 64 * 1024;

/** Pages up to this many bytes skip the parsing queue. Such pages parse within a millisecond. */
const quickPage = 4 * 1024;

/** Fraction of the hop timeout after which to send GET if HEAD is still unanswered. Some hosts ignore HEAD. */
const headShare = 1 / 2;

/** Fraction of the hop timeout after which to stop waiting for GET and use the response to HEAD. */
const getShare = 11 / 12;

/** Limits for the cache of origins that need GET. Sizes are in characters, times in milliseconds. */
const needGetLimits = {
  maxSize: 4 * 1024 * 1024,
  ttl: 10 * 60 * 1_000,
  sizeCalculation: (url: string, origin: string) => url.length + origin.length,
};

interface Finding {
  result: HopResponse;
  /** Whether GET may reveal more, such as a redirect. */
  isUncertain: boolean;
}

/**
 * Creates a `FetchHop` that finds a browser's next URL with as few requests as possible. It sends HEAD first. It also sends GET
 * if the host rejects, resets or ignores HEAD, or if the page may contain a redirect. It skips HEAD for an origin after HEAD
 * was useless for two URLs.
 *
 * @param time the hop timeout in milliseconds.
 * @param turns schedules the parsing of large pages.
 */
export function createBrowse(request: Request, time = hopTime, turns = noTurns) {
  /** Maps an origin to its first URL that needed GET, or to an empty string after a second URL needed GET. */
  const needGet = new LRUCache<string, string>(needGetLimits);

  return async (
    url: URL,
    { cookie, signal, turns: waiting }: Omit<FetchHopOptions, 'follow'>,
  ): Promise<HopResponse> => {
    const { origin, href } = url;
    const deadline = performance.now() + time * getShare;
    const done = new AbortController();
    const headers = cookie ? ['Cookie', cookie] : [];
    const options = { headers, signal: signal ? AbortSignal.any([signal, done.signal]) : done.signal };
    const turn = () => turns(new Set(waiting?.names().map(clientOf)), options.signal);
    let page: Promise<Finding> | undefined;
    const get = () =>
      (page ??= request(url, { ...options, ...asBrowsers(headers) }).then((response) =>
        interpret(url, response, 'GET', turn),
      ));
    /** Returns the response to HEAD, or the response to GET if HEAD is inconclusive and GET responds in time. */
    const settled = async (head: Finding): Promise<HopResponse> => {
      if (!head.isUncertain && !isRejected(head)) return head.result;
      const unlessFailed = get().catch(() => undefined);
      const inTime = await within(deadline - performance.now(), unlessFailed, undefined);
      return inTime?.result ?? asInterrupted(head.result);
    };
    try {
      const needing = needGet.get(origin);
      if (needing === '' || needing === href) return (await get()).result;
      const byHead = request(url, { ...options, method: 'HEAD' })
        .then((response) => interpret(url, response, 'HEAD', turn))
        .catch(nullIfNoResponse);
      const head = await within(time * headShare, byHead, null);
      // The response to HEAD may still arrive first.
      const late = () => byHead.then((found) => (found && !isRejected(found) ? found : get()));
      const first = head ?? (await Promise.any([late(), get()]).catch(get));
      const result = first.result.method === 'GET' ? first.result : await settled(first);
      const wasNeeded = !head || (isRejected(head) && result.status !== head.result.status);
      if (result.method === 'GET' && wasNeeded) needGet.set(origin, needing === undefined ? href : '');
      return result;
    } finally {
      // Cancel the slower request.
      done.abort();
    }
  };
}

/** Some hosts reject HEAD with a 4xx or 5xx, but redirect GET. */
function isRejected({ result }: Finding): boolean {
  return result.status >= 400;
}

/** Returns null if the host closed the connection or did not send HTTP. @throws all other errors. */
function nullIfNoResponse(error: unknown): null {
  const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'ERR_NOT_HTTP') return null;
  throw error;
}

/** Requests the `identity` encoding to avoid decoding. Some websites expect `Upgrade-Insecure-Requests` from browsers. */
const asBrowsers = (headers: readonly string[]): RequestOptions => ({
  method: 'GET',
  headers: [...headers, 'Accept-Encoding', 'identity', 'Upgrade-Insecure-Requests', '1'],
  bodyLimit: (head) => (!isRedirect(head) && isDecidedByContent(head) ? maxPageSize : 0),
});

/** Interprets a response like a browser. */
async function interpret(
  url: URL,
  response: Response,
  method: HopResponse['method'],
  turn: () => Promise<void>,
): Promise<Finding> {
  const { status, headers, body } = response;
  const result: HopResponse = hopResponse(response, method);
  if (headers['set-cookie']?.length) result.setCookies = headers['set-cookie'];
  const strictTransport = readStrictTransport(headers['strict-transport-security'] ?? '');
  if (strictTransport) result.strictTransport = strictTransport;
  if (isRedirect(response)) return { result, isUncertain: false };
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
  if (refresh) result.refresh = refresh;
  if (title) result.title = title;
  if (scriptRedirect) result.scriptRedirect = true;
  if (isSuccess && (shown === 'file' || shown === 'other')) result.file = fileOf(url, response);
  if (method === 'GET' && isPage) result.bytesRead = body.length;
  const isPartial = isCut || lacksHeaders(response) || Math.max(body.length, content.length) >= maxPageSize;
  if (isDamaged || isPartial) result.incomplete = true;
  return {
    result: response.isCut ? asInterrupted(result) : result,
    isUncertain: isPage || isEmpty(response),
  };
}

/** Whether a response to HEAD declares an empty body. GET may still return a page. */
function isEmpty({ status, headers }: ResponseHead): boolean {
  return [204, 205, 304].includes(status) || headers['content-length'] === '0' || !headers['content-type'];
}

/** Whether a header is missing that could turn the response into a redirect or a file. */
function lacksHeaders({ omitted = [] }: ResponseHead): boolean {
  return omitted.some((name) => name === 'refresh' || /^(?:content|transfer)-/.test(name));
}

/** Whether browsers follow the `Location` and ignore the body. */
function isRedirect({ status, headers }: ResponseHead): boolean {
  return [301, 302, 303, 307, 308].includes(status) && Boolean(headers.location?.trim());
}
