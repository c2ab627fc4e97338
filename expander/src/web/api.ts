import type { Context } from 'hono';
import { ExpansionError, expansionError } from '../expansion/errors.ts';
import type { Expand } from '../expansion/expand.ts';
import { type Expansion, failedExpansion } from '../expansion/expansion.ts';
import { asciiJson } from './ascii-json.ts';
import { callbackCall, isCallbackName } from './callback-name.ts';
import { clientOf } from './client.ts';
import { errorResponse, reportError } from './error-response.ts';
import { type Parameters, readParameters } from './parameters.ts';
import { apiHeaders, cacheControl, jsonpHeaders, noStore, textResponse } from './responses.ts';

/** `GET /api`: the long URL as text, or as a call. */
export function expandToText(expand: Expand) {
  return async (c: Context): Promise<Response> => {
    const { u, cb, follow } = readParameters(c);
    if (u === '') return textResponse('`u` argument required.', { headers: { ...apiHeaders, ...noStore } });
    if (cb !== '' && !isCallbackName(cb)) {
      throw new ExpansionError('invalid_callback', 'The `cb` argument is not the name of a function.');
    }
    const { error, longUrl, freshUntil } = await expand.trace(u, {
      follow,
      signal: c.req.raw.signal,
      client: clientOf(c),
    });
    const caching = cacheControl(freshUntil);
    if (error) return errorResponse(c, error, caching);
    const text = longUrl ?? '';
    if (cb === '') return textResponse(text, { headers: { ...apiHeaders, ...caching } });
    return textResponse(callbackCall(cb, text), { headers: { ...jsonpHeaders, ...caching } });
  };
}

/** `GET /api/chain`: every hop. The one response that is JSON, its errors too. */
export function expandToChain(expand: Expand) {
  return async (c: Context): Promise<Response> => {
    let parameters: Omit<Parameters, 'cb'> = { u: c.req.query('u') ?? '', follow: 'default' };
    let expansion: Expansion;
    try {
      parameters = readParameters(c);
      const { u, follow } = parameters;
      expansion = await expand.trace(u, { follow, signal: c.req.raw.signal, client: clientOf(c) });
    } catch (error) {
      // Nothing was expanded: this says something about the request, not about the URL.
      expansion = { ...failedExpansion(parameters.u, expansionError(error)), freshUntil: 0 };
    }
    const { hops, freshUntil, ...rest } = expansion;
    const { u: url, follow } = parameters;
    const report = { url, follow, hops: hops.map(({ freshUntil: _, ...hop }) => hop), ...rest };
    const { status, headers } = reportError(c, rest.error);
    return textResponse(asciiJson(report), {
      status: url === '' ? 400 : status,
      headers: { ...apiHeaders, 'Content-Type': 'application/json', ...cacheControl(freshUntil), ...headers },
    });
  };
}
