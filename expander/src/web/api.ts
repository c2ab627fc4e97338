import type { Context } from 'hono';
import { endedExpansion } from '../expansion/chain.ts';
import { ExpansionError, expansionError } from '../expansion/errors.ts';
import type { Expand } from '../expansion/expand.ts';
import type { Expansion, Follow } from '../expansion/expansion.ts';
import { asciiJson } from './ascii-json.ts';
import { readParameters } from './parameters.ts';
import {
  apiHeaders,
  cacheControl,
  cacheHit,
  errorResponse,
  jsonpHeaders,
  noStore,
  reportError,
  textResponse,
} from './responses.ts';

/** `GET /api`: the long URL as text, or as a call. */
export function expandToText(expand: Expand) {
  return async (c: Context): Promise<Response> => {
    const { u, cb, ...options } = readParameters(c);
    if (u === '') return textResponse('`u` argument required.', { headers: { ...apiHeaders, ...noStore } });
    if (cb !== '' && !isCallbackName(cb)) {
      throw new ExpansionError('invalid_callback', 'The `cb` argument is not the name of a function.');
    }
    const { error, longUrl, freshUntil, cached } = await expand.trace(u, options);
    const caching = { ...cacheControl(freshUntil), ...(cached && cacheHit) };
    if (error) return errorResponse(c, error, caching);
    const text = longUrl ?? '';
    if (cb === '') return textResponse(text, { headers: { ...apiHeaders, ...caching } });
    return textResponse(callbackCall(cb, text), { headers: { ...jsonpHeaders, ...caching } });
  };
}

/** A dotted path of JavaScript identifiers in ASCII, like all bodies of the API. */
const dottedPath = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;

/** Whether `name` may be called in a JSONP response. */
export function isCallbackName(name: string): boolean {
  return name.length <= 128 && dottedPath.test(name);
}

/** `name("...")`; the string contains neither `</` nor JavaScript's line ends U+2028 and U+2029. */
export function callbackCall(name: string, text: string): string {
  return `${name}(${asciiJson(text)})`;
}

/** `GET /api/chain`: every hop. The one response that is JSON, its errors too. */
export function expandToChain(expand: Expand) {
  return async (c: Context): Promise<Response> => {
    let url = c.req.query('u') ?? '';
    let follow: Follow = 'default';
    let expansion: Expansion;
    try {
      const { u, cb, ...options } = readParameters(c);
      ({ follow } = options);
      url = u;
      expansion = await expand.trace(url, options);
    } catch (error) {
      // Nothing was expanded: this says something about the request, not about the URL.
      expansion = { ...endedExpansion(url, expansionError(error)), freshUntil: 0 };
    }
    const { hops, freshUntil, ...rest } = expansion;
    const report = { url, follow, hops: hops.map(({ freshUntil: _, ...hop }) => hop), ...rest };
    const { status, headers } = reportError(c, rest.error);
    return textResponse(asciiJson(report), {
      status: url === '' ? 400 : status,
      headers: {
        ...apiHeaders,
        'Content-Type': 'application/json',
        ...cacheControl(freshUntil),
        ...(rest.cached && cacheHit),
        ...headers,
      },
    });
  };
}
