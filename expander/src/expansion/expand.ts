import { endedExpansion, untilError } from './chain.ts';
import { ExpansionError } from './errors.ts';
import { browserLimit, type ExpandOptions, type Expansion, type FollowRedirects } from './expansion.ts';
import { readTarget } from './target.ts';

// See options.ts.
const { promisify } = process.getBuiltinModule('node:util');

type Callback = (error: ExpansionError | null, longUrl: string | null, redirectCount: number) => void;

export interface Expand {
  /** @throws TypeError if `url` is not a string or `callback` is not a function. */
  (url: string, callback: Callback): void;
  /**
   * Maximum redirects to follow. The expansion ends at the location of the next redirect. `follow` = `all` always allows 19.
   */
  maxRedirect: number;
  /** Returns the expansion with all hops. */
  chain(url: string, options?: ChainOptions): Promise<Expansion>;
  [promisify.custom](url: string): Promise<{ longUrl: string | null; redirectCount: number }>;
}

export type ChainOptions = Partial<ExpandOptions>;

const nothing = { code: 'empty', message: 'There is no URL to expand.' } as const;

/** Creates `expand` for untrusted input. @param settings.ends counts expansions by end code. */
export function createExpand(
  followRedirects: FollowRedirects,
  settings: { maxRedirect?: number; ends?: { inc(labels: { end: string }): void } } = {},
): Expand {
  const chain: Expand['chain'] = async (url, { follow = 'default', ...options } = {}) => {
    const maxRedirect = follow === 'all' ? browserLimit : expand.maxRedirect;
    const input = url.trim();
    const expansion = await untilError(
      async () => {
        if (input === '') return endedExpansion(null, nothing);
        return followRedirects(readTarget(input), { maxRedirect, ...options, follow });
      },
      (error) => endedExpansion(input, error),
    );
    settings.ends?.inc({ end: expansion.end.code });
    return expansion;
  };

  const expand: Expand = (url, callback) => {
    assertString(url);
    if (typeof callback !== 'function')
      throw new TypeError(`expand: the callback is ${callback}, not a function`);
    // Run the callback outside the promise, so that errors in the callback become uncaught exceptions.
    chain(url).then(({ error, longUrl, redirectCount }) =>
      queueMicrotask(() => callback(asError(error), longUrl, redirectCount)),
    );
  };
  expand.maxRedirect = settings.maxRedirect ?? 5;
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
