import { clientAddress } from '@longhand/shared/client-address.ts';
import { annotate } from '@longhand/shared/observe.ts';
import { queryOf } from '@longhand/shared/routes.ts';
import type { Context } from 'hono';
import { endedExpansion, untilError } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { ChainOptions, Expand } from '../expansion/expand.ts';
import { cdnId, createChargeOnce, type Expansion, type Follow, keyedClient } from '../expansion/expansion.ts';
import { printable } from '../expansion/target.ts';

type ExpandArguments = Pick<ChainOptions, 'again' | 'onHop'> & Record<'u' | 'follow', string>;

export type ExpandRequest = ReturnType<typeof requestExpander>;

/** Creates a function that expands `u` for a request. Errors of the request itself are never cached. */
export function requestExpander(expand: Expand, readRequest: ReadRequest) {
  return (c: Context, { u, follow, again, onHop }: ExpandArguments, check = () => {}) =>
    untilError(
      async () => {
        const { signal, client } = await readRequest(c);
        check();
        if (u === '') return expand.chain(u);
        return expand.chain(u, { follow: readFollow(follow), again, onHop, signal, client });
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
    const options = { follow: 'all', signal, client, chargeOnce: createChargeOnce() } as const;
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

/** Returns the `follow` argument of a request, unchecked. */
export const followArgument = (c: Context): string => queryOf(c).get('follow') || 'default';

/** Checks the `follow` argument. @throws ExpansionError `invalid_argument` */
export const readFollow = (follow: string): Follow => oneOf('follow', follow, follows);

/** Returns the allowed value that equals `value`. @throws ExpansionError `invalid_argument` */
export function oneOf<Value extends string>(name: string, value: string, allowed: readonly Value[]): Value {
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
