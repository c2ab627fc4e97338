import type { ErrorCode, ErrorFacts } from './errors.ts';
import type { UnicodeHost } from './host.ts';
import type { ReferrerPolicy } from './referrer.ts';
import type { StrictTransport } from './strict-transport.ts';
import type { Target } from './target.ts';

/** Which redirects to follow: only 301 and 302 by default, or all redirects that a browser follows. */
export type Follow = 'default' | 'all';

/** Maximum redirects with `follow` = `all`. Chromium requests at most 20 URLs, Firefox 21. */
export const browserLimit = 19;

/** A reused connection, whose responses may be late bodies for earlier requests. */
export interface Source {
  /** Whether unsolicited bytes arrived. Each response on this connection may belong to another request. */
  hasStrayed: boolean;
}

/** Milliseconds to wait for unsolicited bytes before trusting a response. */
export const doubtTime = 1_000;

/** A redirect by a `Refresh` header or by `<meta http-equiv="refresh">`. */
export interface Refresh {
  kind: 'refresh' | 'meta';
  /** The target, resolved with the page's `<base href>` and encoding; empty for the page itself. */
  url: string;
}

/** A website's response to one request. Only `follow` = `all` sets the fields about pages and files. */
export interface HopResponse {
  status: number;
  /** The `Location` header, with non-ASCII bytes percent-encoded; null if it is missing. */
  location: string | null;
  method: 'HEAD' | 'GET';
  /** Number of bytes read from the page. */
  bytesRead?: number;
  /** The page title, truncated and on one line. This is untrusted text. */
  title?: string;
  /** A file that a browser downloads or displays, such as a PDF. `saved` is set if it surely downloads the file. */
  file?: { name: string; size: number | null; saved?: true };
  /** Set if a script or frame on the page may redirect. This is a guess, and the target is unknown. */
  scriptRedirect?: true;
  /** A refresh after more seconds than redirects may take, so the page ends the chain. `url` is empty for the page itself. */
  laterRefresh?: { seconds: number; url: string };
  refresh?: Refresh;
  setCookies?: readonly string[];
  /** Set if the response deletes all cookies of its website. */
  clearsCookies?: true;
  strictTransport?: StrictTransport;
  referrerPolicy?: ReferrerPolicy;
  addressFamily: 4 | 6 | null;
  /** Set if part of the page was not read and may contain a redirect. */
  incomplete?: true;
  /** Set if the body was truncated or slow. Another request may return the whole body. */
  interrupted?: true;
  /** The connection; absent if it was new. Caches stop serving the response once unsolicited bytes arrive. */
  source?: Source;
  /** Expiry time (milliseconds since 1970). */
  freshUntil: number;
  /** Whether the response comes from a cache. */
  cached: boolean;
}

/** A hop that waits for a slot, in a queue of each of its requesters. It starts as soon as one of these queues reaches it. */
export interface WaitingHop {
  join(requester: string): void;
  leave(requester: string): void;
}

/** Creates a function that charges a request against its client's rate limit at the first call. Later calls await that charge. */
export function createChargeOnce() {
  let charged: Promise<void> | undefined;
  return (charge: () => Promise<void>): Promise<void> => {
    charged ??= charge();
    return charged;
  };
}
type ChargeOnce = ReturnType<typeof createChargeOnce>;

/** What all hops of a chain share. Every layer receives the same object. */
export interface ChainContext {
  follow: Follow;
  signal?: AbortSignal | undefined;
  client?: string | undefined;
  /** All that wait for this chain. */
  requesters?: { names(): IteratorObject<string> } | undefined;
  /** Called with the hop that starts to wait for a slot, and without it when the wait ends. */
  onWait?: ((hop?: WaitingHop) => void) | undefined;
  /** The chains of one request share this function, so a message costs its client no more than a single URL. */
  chargeOnce: ChargeOnce;
  /** Skips the caches to revalidate a stale entry, which does not count against a client's rate. */
  revalidates?: boolean | undefined;
  /** Skips the caches because the visitor chose "Try again". */
  again?: boolean | undefined;
}

/** A request for one hop of a chain. */
export interface HopRequest {
  chain: ChainContext;
  /** Whether the chain has earlier hops. Started chains have priority. */
  hasBegun?: boolean | undefined;
  /** The `Cookie` header. Other chains must not use the response. */
  cookie?: string | undefined;
  /** The `Referer` header, after a refresh. Other chains must not use the response. */
  referer?: string | undefined;
  /** Skips the cache because the chain requests the URL a second time. */
  isRepeated?: boolean | undefined;
  /** Sends GET without a HEAD first, because HEAD could mislead the chain. */
  skipHead?: boolean | undefined;
}

/**
 * Requests the headers of one URL. With `follow` = `all`, it also reads the start of a page.
 *
 * @throws ExpansionError
 */
export type FetchHop = (url: URL, request: HopRequest) => Promise<HopResponse>;

/** Identifies expanders in the `CDN-Loop` header of requests (RFC 8586). */
export const cdnId = 'longhand';

/** Returns the client name for an API key. The key's rate replaces all other rates. */
export const keyedClient = (name: string) => `key ${name}`;
export const hasKey = (client: string) => client.startsWith(keyedClient(''));

/** Returns the name of a requester: a client with all its single URLs, or one of its URL lists. */
export const requesterOf = (client = '', list?: number) =>
  list === undefined ? client : `${client}#${list}`;
const clientOf = (requester: string) => requester.replace(/#.*/, '');

/** Returns the clients that wait for a chain. */
export const clientsOf = ({ requesters }: ChainContext): Set<string> =>
  new Set(requesters?.names().map(clientOf));

export type Counts = ReturnType<typeof createCounts>;

/** Creates named counters, such as one per client. Counters at 0 take no memory. */
export function createCounts() {
  const counts = new Map<string, number>();
  const count = (name: string) => counts.get(name) ?? 0;
  const add = (name: string, change: number) => {
    const now = count(name) + change;
    if (now > 0) counts.set(name, now);
    else counts.delete(name);
    return now;
  };
  return { count, add, names: () => counts.keys() };
}

/** How a hop redirects: by its status, a `Refresh` header, a meta refresh, a wrapper or HSTS. */
export type HopKind = '301' | '302' | '303' | '307' | '308' | 'refresh' | 'meta' | 'wrapper' | 'hsts';

/** Fields of a response that only the chain needs. */
export const internalFields = new Set([
  'refresh',
  'setCookies',
  'clearsCookies',
  'strictTransport',
  'referrerPolicy',
  'source',
] as const);
type InternalField = typeof internalFields extends Set<infer Name> ? Name : never;

export interface Hop extends Omit<HopResponse, 'status' | 'method' | InternalField>, UnicodeHost {
  url: string;
  /** Null at the end of the chain. */
  kind: HopKind | null;
  /** Null for a wrapper or HSTS, which do not need a request. */
  status: number | null;
  /** Null if `status` is null. */
  method: HopResponse['method'] | null;
  /** The name of the wrapper service, if any. */
  wrapper?: string;
  milliseconds: number;
  tls: boolean;
  /** Whether the hop redirects from `https` to `http`. */
  downgrade: boolean;
  /** Whether the hop redirects to another registrable domain, such as from `a.example.co.uk` to `example.com`. */
  domainChanged: boolean;
}

/** Why a chain ended: a code for programs, and a sentence for users. */
export interface End extends ErrorFacts {
  code:
    | 'final'
    | 'empty'
    | 'max_redirects'
    | 'loop'
    | 'no_location'
    | 'malformed_location'
    | 'unsupported_scheme'
    | ErrorCode;
  message: string;
  /** The target of the last redirect as text, if it cannot be requested. */
  target?: string;
}

export interface Expansion {
  hops: Hop[];
  /** The last URL of the chain; null for an empty input. */
  longUrl: string | null;
  redirectCount: number;
  end: End;
  error: (ErrorFacts & { code: ErrorCode; message: string }) | null;
  /** Whether all responses come from a cache. */
  cached: boolean;
  /** Expiry time (milliseconds since 1970). */
  freshUntil: number;
  /** End of stale-while-revalidate (milliseconds since 1970). */
  staleUntil: number;
  /** Reused connections that delivered the responses. Not stored in Redis. */
  sources?: readonly Source[];
}

/** Whether any response in the expansion may belong to another request. */
export function isVoid({ sources }: Pick<Expansion, 'sources'>): boolean {
  return sources?.some(({ hasStrayed }) => hasStrayed) ?? false;
}

export interface ExpandOptions extends Omit<ChainContext, 'chargeOnce'> {
  chargeOnce?: ChargeOnce | undefined;
  /** ID of the URL list that contains this URL. The hops of a list wait in a queue of their own, without a time limit. */
  list?: number | undefined;
  /** Maximum redirects to follow. The chain ends at the location of the next redirect. */
  maxRedirect: number;
  onHop?: ((hop: Hop) => void) | undefined;
}

/** Expansions with the same key share one request in flight and one cache entry. */
export function cacheKey({ text }: Target, { follow, maxRedirect }: ExpandOptions): string {
  return `${follow} ${maxRedirect} ${text}`;
}

/** Expands one URL. A failed expansion has an `error`. Caches and limiters wrap functions of this type. */
export type FollowRedirects = (target: Target, options: ExpandOptions) => Promise<Expansion>;
