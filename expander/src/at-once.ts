import type { AtOnce } from '@longhand/shared/serve.ts';
import { api, cacheControl } from './headers.ts';
import type { Known } from './memory-cache.ts';

/** The usual question: a single `u`, in characters that mean the same in every reading of a URL. */
const usual = /^\/api\?u=([\w.~:/?@!$()*,;=%-]+)$/;
const plainHost = /^[\w.-]+(?::\d+)?$/;

/**
 * Answers `GET /api?u=…` out of memory, without `Request`, router and `Response`: they cost as much as all the rest. What
 * is in any way out of the ordinary is left to the application, which answers the same.
 */
export function atOnce(known: Known): AtOnce {
  return ({ method, url = '', headers: { host = 'a' } }) => {
    const question = method === 'GET' && plainHost.test(host) ? usual.exec(url) : null;
    const u = question && decoded(question[1] as string);
    const expansion = u ? known(u) : undefined;
    if (!expansion) return undefined;
    const { longUrl, freshUntil } = expansion;
    return { status: 200, headers: { ...api, ...cacheControl(freshUntil) }, body: longUrl ?? '' };
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text).trim();
  } catch {
    return undefined;
  }
}
