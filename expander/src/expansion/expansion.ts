import type { ErrorCode, ErrorFacts } from './errors.ts';
import type { UnicodeHost } from './host.ts';
import type { Refresh } from './refresh.ts';
import type { StrictTransport } from './strict-transport.ts';
import type { Target } from './target.ts';

/** How far a chain is followed: through 301 and 302, or to where a browser ends. */
export type Follow = 'default' | 'all';

/** Redirects that Chromium follows: it requests 20 URLs. Firefox requests one more. */
export const browserLimit = 19;

/** A reused connection: a response on it may be the late body to an earlier request. */
export interface Source {
  /** Whether unsolicited bytes arrived: then any of its responses may belong to another request. */
  hasStrayed: boolean;
}

/** Milliseconds after which a response is trusted if its connection received no unsolicited bytes. */
export const doubtTime = 1_000;

/** A host's response to one request. */
export interface HopResponse {
  status: number;
  /** The `Location` header, its bytes beyond ASCII percent-encoded; null if there is none. */
  location: string | null;
  method: 'HEAD' | 'GET';
  /** Bytes of the page that were read to look for a redirect in it; absent if none were. */
  bytesRead?: number;
  /** The title of the page, in one line and cut: a stranger's words. Absent if no page was read. */
  title?: string;
  /** What a browser saves or shows that is not a page. Only with `follow` = `all`, as the next two. */
  file?: { name: string; size: number | null };
  /** Whether a script of the page may redirect: a hint, without a target. */
  scriptRedirect?: true;
  /** Where the page sends its visitors by itself. */
  refresh?: Refresh;
  /** The `Set-Cookie` fields. Only with `follow` = `all`. */
  setCookies?: readonly string[];
  /** What `Strict-Transport-Security` says. Only with `follow` = `all`. */
  strictTransport?: StrictTransport;
  addressFamily: 4 | 6 | null;
  /** Set if part of a page was not read, so a redirect in it may be missing. */
  incomplete?: true;
  /** Set if that is because the website broke off or was slow: another request may read it. */
  interrupted?: true;
  /** Absent if the response came over a new connection. After unsolicited bytes, no cache serves this response. */
  source?: Source;
  /** Milliseconds since 1970 until which a cache may keep this. */
  freshUntil: number;
  /** Whether the response comes from a cache. */
  cached: boolean;
}

/** What a hop waits in: it may take its place in any turn that has joined. */
export interface TurnQueue {
  join(turn: string): void;
  leave(turn: string): void;
}

/** State of one chain, for the layers that its hops pass through. */
export interface ChainState {
  /** Whether it has visited a URL before this one. */
  hasBegun: boolean;
  /** Whether the client's rate has been charged for it. */
  isCharged: boolean;
}

export interface FetchHopOptions {
  follow: Follow;
  /** The `Cookie` header; a response to it is for this chain alone. */
  cookie?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Whose request it is, for limits. */
  client?: string | undefined;
  /** In whose turns it waits for a place: those of all requests for it. */
  turns?: { names(): IteratorObject<string> } | undefined;
  /** Called with the queue when it begins to wait for its place, and with nothing when that is over. */
  onWait?: ((queue?: TurnQueue) => void) | undefined;
  /** The chain of the hop. */
  chain?: ChainState | undefined;
  /** Skips the cache, in the background: nobody waits, and no client is charged. */
  refresh?: boolean | undefined;
  /** Skips the cache for a visitor who tries again. */
  again?: boolean | undefined;
}

/**
 * Requests one URL: its headers, and with `follow` = `all` the beginning of a page.
 *
 * @throws ExpansionError
 */
export type FetchHop = (url: URL, options: FetchHopOptions) => Promise<HopResponse>;

/** What every expander calls itself in `CDN-Loop` (RFC 8586), on each request that it makes. */
export const cdnId = 'longhand';

/** A client with a key, by the key's name. The key's rate replaces all other rates. */
export const keyedClient = (name: string) => `key ${name}`;
export const hasKey = (client: string) => client.startsWith(keyedClient(''));

/**
 * How a hop redirects: by its status, by a `Refresh` header, by a meta element in the page, or by a wrapper that names
 * its target in the URL.
 */
export type HopKind = '301' | '302' | '303' | '307' | '308' | 'refresh' | 'meta' | 'wrapper' | 'hsts';

/** One URL of a chain: its response, and how it redirects. */
export interface Hop
  extends Omit<HopResponse, 'status' | 'method' | 'refresh' | 'setCookies' | 'strictTransport' | 'source'>,
    UnicodeHost {
  url: string;
  /** Null at the end of the chain. */
  kind: HopKind | null;
  /** Null for a wrapper and for HSTS, as the method is: the URL is not requested. */
  status: number | null;
  method: HopResponse['method'] | null;
  /** The wrapper's name, if the hop is a wrapper. */
  wrapper?: string;
  milliseconds: number;
  tls: boolean;
  /** Whether it leads from `https` to `http`. */
  downgrade: boolean;
  /** Whether it leads to another registrable domain, such as from `a.example.co.uk` to `example.com`. */
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
  /** Where the last redirect points, as text, if that cannot be followed. */
  target?: string;
}

export interface Expansion {
  hops: Hop[];
  /** The URL finally reached; null for an empty input. */
  longUrl: string | null;
  redirectCount: number;
  end: End;
  error: (ErrorFacts & { code: ErrorCode; message: string }) | null;
  /** Whether no website was asked. */
  cached: boolean;
  /** Milliseconds since 1970 until which a cache may keep this. */
  freshUntil: number;
  /** Milliseconds since 1970 until which it may be shown while it is refreshed. */
  staleUntil: number;
  /** The sources of its responses. Redis stores an expansion without them. */
  sources?: readonly Source[];
}

/** Whether one of its responses may belong to another request. */
export function isVoid({ sources }: Pick<Expansion, 'sources'>): boolean {
  return sources?.some(({ hasStrayed }) => hasStrayed) ?? false;
}

export interface ExpandOptions extends FetchHopOptions {
  /** The list that contains this URL. Each list takes its own turns, and waits without a time limit. */
  list?: number | undefined;
  /** Redirects followed before the chain stops at the next location. */
  maxRedirect: number;
  /** Called with each hop as it is made. */
  onHop?: ((hop: Hop) => void) | undefined;
}

/** What an expansion depends on: equal requests share a flight and a cache entry. */
export function cacheKey({ text }: Target, { follow, maxRedirect }: ExpandOptions): string {
  return `${follow} ${maxRedirect} ${text}`;
}

/** Expands one URL; a failure is an expansion with an `error`. Caches and limits wrap this one signature. */
export type FollowRedirects = (target: Target, options: ExpandOptions) => Promise<Expansion>;
