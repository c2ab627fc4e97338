import { isIP } from 'node:net';
import { annotate } from '@longhand/shared/observe.ts';
import type { Context } from 'hono';
import ip from 'ipaddr.js';
import { endedExpansion, untilError } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { ChainOptions, Expand } from '../expansion/expand.ts';
import { cdnId, type Expansion, type Follow, keyedClient } from '../expansion/expansion.ts';
import { formats, type ResponseFormat } from './formats.ts';
import { cacheControl, openToAll, reportError, textResponse } from './responses.ts';

/** The parameters of an API request, unchanged. Of a repeated parameter, the first counts. */
function readQuery(c: Context) {
  const { u = '', cb = '', err = '', format = '', follow } = c.req.query();
  return { u: u.trim(), cb, err, format, follow: readFollow(follow) };
}

type Query = ReturnType<typeof readQuery>;

/** Writes expansions in the API's formats. `isOpen`: every website may read them, and caches may serve them stale. */
export function createApi(expandRequest: ExpandRequest, isOpen: boolean) {
  const respond = (c: Context, format: ResponseFormat, query: Query, expansion: Expansion): Response => {
    const { error, end, freshUntil, cached } = expansion;
    const { status, headers } = reportError(c, error);
    return textResponse(format.write(expansion, query), {
      status: format.status ?? (end.code === 'empty' ? (format.emptyStatus ?? status) : status),
      headers: {
        ...format.headers,
        ...(isOpen && openToAll),
        ...cacheControl(freshUntil, isOpen && status === 200),
        // RFC 9211.
        ...(cached && { 'Cache-Status': 'Longhand; hit' }),
        ...headers,
      },
    });
  };
  return {
    /** `GET /api`: the long URL as text, as JSON, or as a call. */
    async text(c: Context) {
      const query = readQuery(c);
      const expansion = await expandRequest(c, query, () => checkCallbacks(query));
      return respond(c, textFormat(query, expansion), query, expansion);
    },
    /** `GET /api/chain`: every hop. */
    async chain(c: Context) {
      const query = readQuery(c);
      return respond(c, formats.chain, query, await expandRequest(c, query));
    },
  };
}

/** The format of `/api`. Failures, and faulty requests, have their own. */
function textFormat({ cb, err, format }: Query, { error, end }: Expansion): ResponseFormat {
  if (format === 'json') return formats.json;
  if (error || end.code === 'empty') return isCallbackName(err) ? formats.jsonpError : formats.text;
  return cb === '' ? formats.text : formats.jsonp;
}

/** @throws ExpansionError `invalid_callback` */
function checkCallbacks({ u, cb, err, format }: Query): void {
  if (u === '') return;
  for (const [argument, name] of Object.entries({ cb, err })) {
    if (name === '' || (format !== 'json' && isCallbackName(name))) continue;
    const fault = format === 'json' ? 'does not go with JSON' : 'is not the name of a function';
    throw new ExpansionError('invalid_callback', `The \`${argument}\` argument ${fault}.`);
  }
}

/** A dotted path of JavaScript identifiers, in ASCII like all bodies of the API. */
export const dottedPath = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;

/** Characters of the longest callback name. */
export const maxCallbackName = 128;

/** Whether `name` may be called in a JSONP response. */
export function isCallbackName(name: string): boolean {
  return name.length <= maxCallbackName && dottedPath.test(name);
}

export type ExpandRequest = ReturnType<typeof requestExpander>;

/** Expands `u` for a request, unless `check` throws. Caches never keep the error of an invalid request. */
export function requestExpander(expand: Expand, readRequest: ReadRequest) {
  return (c: Context, { u, follow, again, onHop }: ChainOptions & { u: string }, check = () => {}) =>
    untilError(
      async () => {
        const { signal, client } = await readRequest(c);
        check();
        return expand.chain(u, { follow, again, onHop, signal, client });
      },
      (error) => ({ ...endedExpansion(u, error), freshUntil: 0 }),
    );
}

/** Charges a request with a key. @returns the key's name, with which it calls `onName` before. */
export type ChargeKey = (key: string, address: string, onName: (name: string) => void) => Promise<string>;

export type ReadRequest = ReturnType<typeof requestReader>;

/**
 * Checks a request and identifies its client. Any number of empty `u` counts as none.
 *
 * @param chargeKey without it nothing in a request is a key.
 * @throws ExpansionError if `u` is given twice: most likely it was not percent-encoded. Also if an expander asks for an
 *   expansion: URLs that nest its own address would keep it busy with itself. Also what `chargeKey` throws.
 */
export function requestReader(chargeKey?: ChargeKey) {
  return async (c: Context) => {
    const { u = [] } = c.req.queries();
    const isEmpty = u.every((url) => url.trim() === '');
    if (u.length > 1 && !isEmpty) {
      const message = 'The `u` argument is given more than once; percent-encode the URL in it.';
      throw new ExpansionError('invalid_url', message);
    }
    if ((!isEmpty || c.req.method === 'POST') && isOwnRequest(c.req.header('CDN-Loop'))) {
      throw new ExpansionError('target_refused', 'This URL points back to this service.');
    }
    const address = addressOf(c);
    const key = chargeKey && sentKey(c);
    const name =
      key === undefined ? undefined : await chargeKey?.(key, address, (user) => annotate(c, { user }));
    // The signal is aborted when the client leaves.
    return { signal: c.req.raw.signal, client: name ? keyedClient(name) : address };
  };
}

/** The key that a request has. nginx limits requests with one coarsely, so no other request may pass for one. */
function sentKey(c: Context): string | undefined {
  const [, bearer] = /^Bearer\b(.*)$/i.exec(c.req.header('Authorization') ?? '') ?? [];
  const { key: keys = [] } = c.req.queries();
  // Two keys count as none.
  return keys.length > 1 ? '' : (bearer?.trim() ?? keys[0]);
}

export const readFollow = (follow = ''): Follow => (follow === 'all' ? 'all' : 'default');

/** Whether a `CDN-Loop` field names an expander, which then made this request to expand a URL. */
export function isOwnRequest(cdnLoop = ''): boolean {
  return cdnLoop.split(',').some((member) => member.split(';', 1)[0]?.trim().toLowerCase() === cdnId);
}

/**
 * The client's address, for limits: from the proxy's header, else from the connection. An IPv6 client is its /64 network,
 * because it owns all addresses there.
 */
export function addressOf(c: Context): string {
  const stated = c.req.header('x-forwarded-for') ?? '';
  // Without the proxy, a client could invent any number of names, each with its own limits.
  const address = isIP(stated) ? stated : (c.env?.incoming?.socket.remoteAddress ?? '');
  if (isIP(address) !== 6) return address;
  const parsed = ip.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : (parsed as ip.IPv6).parts.slice(0, 4).join(':');
}
