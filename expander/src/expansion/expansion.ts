import type { ErrorCode, ErrorFacts } from './errors.ts';
import type { UnicodeHost } from './host.ts';
import type { StrictTransport } from './strict-transport.ts';
import type { Target } from './target.ts';

/** How far a chain is followed: through 301 and 302, or as far as a browser goes. */
export type Follow = 'default' | 'all';

/** Redirects that Chromium follows, because it requests 20 URLs. Firefox requests 21. */
export const browserLimit = 19;

/** A reused connection. A response on it may really be a late body for an earlier request. */
export interface Source {
  /** Whether unsolicited bytes arrived. Then each response on it may belong to another request. */
  hasStrayed: boolean;
}

/** Milliseconds to wait for unsolicited bytes before a response is trusted. */
export const doubtTime = 1_000;

/** A redirect by a `Refresh` header or by `<meta http-equiv="refresh">`. */
export interface Refresh {
  kind: 'refresh' | 'meta';
  /** Resolved by the page's `<base href>` and encoding; empty for the page itself. */
  url: string;
}

/** A website's response to one request. `follow` = `default` leaves out the fields about pages and files. */
export interface HopResponse {
  status: number;
  /** The `Location` header, with non-ASCII bytes percent-encoded; null if it is missing. */
  location: string | null;
  method: 'HEAD' | 'GET';
  /** Bytes of the page that were read. */
  bytesRead?: number;
  /** The title of the page in one line, truncated. It is untrusted text. */
  title?: string;
  /** A file that a browser saves, or shows instead of a page. */
  file?: { name: string; size: number | null };
  /** Whether a script of the page may redirect, which is a hint without a target. */
  scriptRedirect?: true;
  refresh?: Refresh;
  /** The `Set-Cookie` fields. */
  setCookies?: readonly string[];
  strictTransport?: StrictTransport;
  addressFamily: 4 | 6 | null;
  /** Set if part of a page is unread, so a redirect in it may be missing. */
  incomplete?: true;
  /** Set if the website cut off the body or was slow. Another request may read the rest. */
  interrupted?: true;
  /** Absent on a new connection. After unsolicited bytes, caches no longer serve this response. */
  source?: Source;
  /** When it expires (milliseconds since 1970). */
  freshUntil: number;
  /** Whether the response comes from a cache. */
  cached: boolean;
}

/** The turns in which a hop waits. The hop starts when the first of them comes up. */
export interface TurnQueue {
  join(turn: string): void;
  leave(turn: string): void;
}

/** State of one chain, for the layers that its hops pass through. */
interface ChainState {
  /** Whether it has visited an earlier URL. */
  hasBegun: boolean;
  /** Whether it has been counted against the client's rate limit. */
  isCharged: boolean;
}

export interface FetchHopOptions {
  follow: Follow;
  /** The `Cookie` header. Only this chain may use the response. */
  cookie?: string | undefined;
  signal?: AbortSignal | undefined;
  client?: string | undefined;
  /** The turns of all requests that wait for this hop. */
  turns?: { names(): IteratorObject<string> } | undefined;
  /** Called with the queue when the hop starts to wait for its place. Called without it when the wait ends. */
  onWait?: ((queue?: TurnQueue) => void) | undefined;
  chain?: ChainState | undefined;
  /** Skips the cache, for a refresh in the background. No client waits for it or is charged for it. */
  refresh?: boolean | undefined;
  /** Skips the cache, because the visitor chose "Try again". */
  again?: boolean | undefined;
}

/**
 * Requests one URL: its headers, and with `follow` = `all` the beginning of a page.
 *
 * @throws ExpansionError
 */
export type FetchHop = (url: URL, options: FetchHopOptions) => Promise<HopResponse>;

/** The name of every expander in the `CDN-Loop` field of its requests (RFC 8586). */
export const cdnId = 'longhand';

/** The name of a client with a key. The key's rate replaces all other rates. */
export const keyedClient = (name: string) => `key ${name}`;
export const hasKey = (client: string) => client.startsWith(keyedClient(''));

/** A turn's key. A client's single requests share a turn, and each of its lists has a separate turn. */
export const turnOf = (client = '', list?: number) => (list === undefined ? client : `${client}#${list}`);
export const clientOf = (turn: string) => turn.replace(/#.*/, '');

/** Counts by name, such as by client. A count of 0 takes no memory. */
export function createCounts() {
  const counts = new Map<string, number>();
  const count = (name: string) => counts.get(name) ?? 0;
  const add = (name: string, change: 1 | -1) => {
    const now = count(name) + change;
    if (now > 0) counts.set(name, now);
    else counts.delete(name);
    return now;
  };
  return { count, add, names: () => counts.keys() };
}

/** How a hop redirects: by its status, a `Refresh` header, a meta element, a wrapper or HSTS. */
export type HopKind = '301' | '302' | '303' | '307' | '308' | 'refresh' | 'meta' | 'wrapper' | 'hsts';

export interface Hop
  extends Omit<HopResponse, 'status' | 'method' | 'refresh' | 'setCookies' | 'strictTransport' | 'source'>,
    UnicodeHost {
  url: string;
  /** Null at the end of the chain. */
  kind: HopKind | null;
  /** Null, like the method, for a wrapper and for HSTS, which need no request. */
  status: number | null;
  method: HopResponse['method'] | null;
  /** The wrapper's name, if the hop is a wrapper. */
  wrapper?: string;
  milliseconds: number;
  tls: boolean;
  /** Whether it redirects from `https` to `http`. */
  downgrade: boolean;
  /** Whether it redirects to another registrable domain, such as from `a.example.co.uk` to `example.com`. */
  domainChanged: boolean;
}

/** Why a chain ended: a code for programs and a sentence for the user. */
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
  /** The target of the last redirect, as text, if clients cannot request it. */
  target?: string;
}

export interface Expansion {
  hops: Hop[];
  /** The last URL of the chain; null for an empty input. */
  longUrl: string | null;
  redirectCount: number;
  end: End;
  error: (ErrorFacts & { code: ErrorCode; message: string }) | null;
  /** Whether no website was contacted. */
  cached: boolean;
  /** When it expires (milliseconds since 1970). */
  freshUntil: number;
  /** When caches must stop serving it during a refresh (milliseconds since 1970). */
  staleUntil: number;
  /** The sources of its responses. Redis stores an expansion without them. */
  sources?: readonly Source[];
}

/** Whether one of its responses may belong to another request. */
export function isVoid({ sources }: Pick<Expansion, 'sources'>): boolean {
  return sources?.some(({ hasStrayed }) => hasStrayed) ?? false;
}

export interface ExpandOptions extends FetchHopOptions {
  /** The list that contains this URL. Each list has its own turns. Its hops wait without a time limit. */
  list?: number | undefined;
  /** Redirects followed before the chain stops at the next location. */
  maxRedirect: number;
  onHop?: ((hop: Hop) => void) | undefined;
}

/** Requests with the same key share an expansion in flight and a cache entry. */
export function cacheKey({ text }: Target, { follow, maxRedirect }: ExpandOptions): string {
  return `${follow} ${maxRedirect} ${text}`;
}

/** Expands one URL. A failure is an expansion with an `error`. Caches and limits wrap this signature. */
export type FollowRedirects = (target: Target, options: ExpandOptions) => Promise<Expansion>;
