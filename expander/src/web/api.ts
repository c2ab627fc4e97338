import { clientAddress } from '@longhand/shared/client-address.ts';
import { annotate } from '@longhand/shared/observe.ts';
import { type LazyResponse, queryOf } from '@longhand/shared/routes.ts';
import type { Context } from 'hono';
import { endedExpansion, untilError } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { ChainOptions, Expand } from '../expansion/expand.ts';
import { cdnId, type Expansion, type Follow, keyedClient } from '../expansion/expansion.ts';
import { printable } from '../expansion/target.ts';
import { cacheControl, formats, openToAll, type ResponseFormat, reportError } from './responses.ts';

/** Reads the parameters of an API request. Only the first value of a repeated parameter applies. */
function readQuery(c: Context) {
  const query = queryOf(c);
  const [cb = '', err = '', format = ''] = ['cb', 'err', 'format'].map((name) => query.get(name));
  return { u: query.get('u')?.trim() ?? '', cb, err, format, follow: query.get('follow') || 'default' };
}

type Query = ReturnType<typeof readQuery>;

/** Creates the API handlers. @param isOpen whether to allow CORS and stale cached responses. */
export function createApi(expandRequest: ExpandRequest, isOpen: boolean) {
  const respond = (c: Context, format: ResponseFormat, query: Query, expansion: Expansion): LazyResponse => {
    const { error, end, freshUntil, cached } = expansion;
    const { status, headers } = reportError(c, error);
    return {
      status: format.status ?? (end.code === 'empty' ? (format.emptyStatus ?? status) : status),
      headers: {
        ...format.headers,
        ...(isOpen && openToAll),
        ...cacheControl(freshUntil, isOpen && status === 200),
        ...(cached && { 'Cache-Status': 'Longhand; hit' }),
        ...headers,
      },
      body: () => format.write(expansion, query),
    };
  };
  return {
    /** `GET /api`: the long URL as text, JSON or a JSONP call. */
    async text(c: Context) {
      const query = readQuery(c);
      const expansion = await expandRequest(c, query, () => checkFormat(query));
      return respond(c, textFormat(query, expansion), query, expansion);
    },
    /** `GET /api/chain`: every hop. */
    async chain(c: Context) {
      const query = readQuery(c);
      return respond(c, formats.chain, query, await expandRequest(c, query));
    },
  };
}

function textFormat({ cb, err, format }: Query, { error, end }: Expansion): ResponseFormat {
  if (format === 'json') return formats.json;
  if (error || end.code === 'empty') return isCallbackName(err) ? formats.jsonpError : formats.text;
  return cb === '' ? formats.text : formats.jsonp;
}

/** @throws ExpansionError `invalid_callback` or `invalid_argument` */
function checkFormat({ u, cb, err, format }: Query): void {
  if (u === '') return;
  if (format !== '') oneOf('format', format, ['text', 'json']);
  for (const [argument, name] of Object.entries({ cb, err })) {
    if (name === '' || (format !== 'json' && isCallbackName(name))) continue;
    const fault = format === 'json' ? 'cannot be combined with format=json' : 'is not a function name';
    throw new ExpansionError('invalid_callback', `The \`${argument}\` argument ${fault}.`);
  }
}

/** Matches a dotted path of ASCII JavaScript identifiers. */
export const dottedPath = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;

/** Maximum length of a callback name, in characters. */
export const maxCallbackName = 128;

/** Whether a JSONP response may call `name`. */
export function isCallbackName(name: string): boolean {
  return name.length <= maxCallbackName && dottedPath.test(name);
}

type ExpandArguments = Pick<ChainOptions, 'again' | 'onHop'> & Record<'u' | 'follow', string>;

export type ExpandRequest = ReturnType<typeof requestExpander>;

/** Creates a function that expands `u` for a request. Errors of the request itself are never cached. */
export function requestExpander(expand: Expand, readRequest: ReadRequest) {
  return (c: Context, { u, follow, again, onHop }: ExpandArguments, check = () => {}) =>
    untilError(
      async () => {
        const { signal, client } = await readRequest(c);
        check();
        const mode = u === '' ? 'default' : readFollow(follow);
        return expand.chain(u, { follow: mode, again, onHop, signal, client });
      },
      (error) => ({ ...endedExpansion(u, error), freshUntil: 0 }),
    );
}

export type ExpandMessage = ReturnType<typeof messageExpander>;

/**
 * Creates a function that reads the request of a message, and returns a function that expands all its URLs, as one request of one
 * client. `onEach` receives each expansion.
 *
 * @throws ExpansionError as `readRequest`.
 */
export function messageExpander(expand: Expand, readRequest: ReadRequest) {
  return async (c: Context) => {
    const { signal, client } = await readRequest(c);
    const options = { follow: 'all', signal, client, charge: {} } as const;
    return (urls: readonly string[], onEach: (index: number, expansion: Expansion) => void) =>
      Promise.all(urls.map(async (url, index) => onEach(index, await expand.chain(url, options))));
  };
}

/** Charges a request against the rate limit of `key`. `onName` receives the key's name before the check. @returns the key's name. */
export type ChargeKey = (key: string, address: string, onName: (name: string) => void) => Promise<string>;

export type ReadRequest = ReturnType<typeof requestReader>;

/**
 * Checks a request and identifies its client.
 *
 * @param chargeKey keys are ignored by default.
 * @throws ExpansionError if `u` is repeated (probably not percent-encoded), if an expander sent the request (a possible
 * endless loop), or if `chargeKey` throws.
 */
export function requestReader(chargeKey?: ChargeKey) {
  return async (c: Context) => {
    const u = queryOf(c).all('u');
    const isEmpty = u.every((url) => url.trim() === '');
    if (u.length > 1 && !isEmpty) {
      const message = 'The `u` argument appears more than once; percent-encode the URL.';
      throw new ExpansionError('invalid_url', message);
    }
    if ((!isEmpty || c.req.method === 'POST') && isOwnRequest(c.req.header('CDN-Loop'))) {
      throw new ExpansionError('target_refused', 'This URL points back to this service.');
    }
    const address = clientAddress(c);
    const key = chargeKey && sentKey(c);
    const name =
      key === undefined ? undefined : await chargeKey?.(key, address, (user) => annotate(c, { user }));
    // Aborted when the client disconnects.
    return { signal: c.req.raw.signal, client: name ? keyedClient(name) : address };
  };
}

/** Returns a request's key. Must find every key that nginx finds, because nginx limits requests with a key only loosely. */
function sentKey(c: Context): string | undefined {
  const [, bearer] = /^Bearer\b(.*)$/i.exec(c.req.header('Authorization') ?? '') ?? [];
  const keys = queryOf(c).all('key');
  // Repeated keys are treated as an empty key, which is never valid.
  return keys.length > 1 ? '' : (bearer?.trim() ?? keys[0]);
}

const follows: readonly Follow[] = ['default', 'all'];

/** @throws ExpansionError `invalid_argument` */
export const readFollow = (follow = ''): Follow => oneOf('follow', follow || 'default', follows);

/** Returns the allowed value that equals `value`. @throws ExpansionError `invalid_argument` */
function oneOf<Value extends string>(name: string, value: string, allowed: readonly Value[]): Value {
  const found = allowed.find((one) => one === value);
  if (found) return found;
  const given = printable(value.slice(0, 40));
  const message = `The \`${name}\` argument is ${given}; it can be ${allowed.join(' or ')}.`;
  throw new ExpansionError('invalid_argument', message);
}

/** Whether this `CDN-Loop` header shows that an expander sent the request. */
export function isOwnRequest(cdnLoop = ''): boolean {
  return cdnLoop.split(',').some((member) => member.split(';', 1)[0]?.trim().toLowerCase() === cdnId);
}
