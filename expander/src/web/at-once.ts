import type { AtOnce } from '@longhand/shared/serve.ts';
import type { Known } from '../cache/memory.ts';
import { api, cacheControl } from './headers.ts';

/** The usual question: a single `u`, in characters that mean the same in every reading of a URL. */
const usualQuestion = /^(?:https?:\/\/[^/]+)?\/api\?u=([\w.~:/?@!$()*,;=%-]+)$/;
/** A host that the server asks a parser of URLs about with some targets only: `256.1.1.1` is 400 with these. */
const plainHost = /^[a-z\d._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/;

/**
 * Answers `GET /api?u=…` out of memory, without `Request`, router and `Response`: they cost as much as all the rest. What
 * is in any way out of the ordinary is left to the application, which answers the same.
 */
export function atOnce(known: Known): AtOnce {
  const beyondDoubt = hostJudge();
  return ({ method, url = '', headers: { host = '' } }) => {
    const usual = method === 'GET' && url.startsWith('/') && beyondDoubt(host);
    const u = usual ? usualU(url) : undefined;
    const expansion = u ? known(u) : undefined;
    if (!expansion) return undefined;
    const body = expansion.longUrl ?? '';
    const headers = { ...api, ...cacheControl(expansion.freshUntil), 'Content-Length': `${body.length}` };
    return { status: 200, headers, body, route: '/api' };
  };
}

/** Says which hosts are one beyond doubt. Nearly every question comes by the same, which is judged once. */
function hostJudge(): (host: string) => boolean {
  let last: string | undefined;
  return (host) => {
    if (host === last) return true;
    if (!plainHost.test(host) || !URL.canParse(`http://${host}`)) return false;
    last = host;
    return true;
  };
}

/** The `u` of the usual question, whose target or URL is given; undefined where it is another one. */
export function usualU(url: string): string | undefined {
  const question = usualQuestion.exec(url);
  if (!question) return undefined;
  try {
    return decodeURIComponent(question[1] as string).trim();
  } catch {
    return undefined;
  }
}
