import { promisify } from 'node:util';
import { endedExpansion, untilError } from './chain.ts';
import { ExpansionError } from './errors.ts';
import { browserLimit, type ExpandOptions, type Expansion, type FollowRedirects } from './expansion.ts';
import { readTarget } from './target.ts';

type Callback = (error: ExpansionError | null, longUrl: string | null, redirectCount: number) => void;

export interface Expand {
  /** @throws TypeError if `url` is not a string or `callback` not a function. */
  (url: string, callback: Callback): void;
  /** Redirects followed before an expansion stops and returns the last location; 19 with `follow` = `all`. */
  maxRedirect: number;
  /** The same expansion with the whole chain. */
  chain(url: string, options?: ChainOptions): Promise<Expansion>;
  [promisify.custom](url: string): Promise<{ longUrl: string | null; redirectCount: number }>;
}

export type ChainOptions = Partial<ExpandOptions>;

export interface ExpandSettings {
  maxRedirect?: number;
  /** Counts expansions by the code of their end. */
  ends?: { inc(labels: { end: string }): void };
}

/** `expand(url, callback)` over `followRedirects`. */
export function createExpand(
  followRedirects: FollowRedirects,
  { maxRedirect = 5, ends }: ExpandSettings = {},
): Expand {
  const expandInput = async (input: string, options: ExpandOptions) => {
    if (input === '') return endedExpansion(null, { code: 'empty', message: 'There is no URL to expand.' });
    return untilError(
      async () => followRedirects(readTarget(input), options),
      (error) => endedExpansion(input, error),
    );
  };
  const chain: Expand['chain'] = async (url, { follow = 'default', ...options } = {}) => {
    const settings = {
      maxRedirect: follow === 'all' ? browserLimit : expand.maxRedirect,
      ...options,
      follow,
    };
    const expansion = await expandInput(url.trim(), settings);
    ends?.inc({ end: expansion.end.code });
    return expansion;
  };

  const expand: Expand = (url, callback) => {
    assertString(url);
    if (typeof callback !== 'function')
      throw new TypeError(`expand: the callback is ${callback}, not a function`);
    // The callback runs outside the promise: an error that it throws is not a failed expansion.
    chain(url).then(({ error, longUrl, redirectCount }) =>
      queueMicrotask(() => callback(asError(error), longUrl, redirectCount)),
    );
  };
  expand.maxRedirect = maxRedirect;
  expand.chain = chain;
  expand[promisify.custom] = async (url: string) => {
    assertString(url);
    const { error, longUrl, redirectCount } = await chain(url);
    if (error) throw asError(error);
    return { longUrl, redirectCount };
  };
  return expand;
}

function assertString(url: unknown): void {
  if (typeof url !== 'string') throw new TypeError(`expand: the URL is ${url}, not a string`);
}

function asError(error: Expansion['error']): ExpansionError | null {
  return error && new ExpansionError(error.code, error.message);
}
