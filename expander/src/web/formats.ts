import type { Expansion } from '../expansion/expansion.ts';
import { asciiJson } from './ascii-json.ts';
import { apiHeaders } from './responses.ts';

/** A response format of the API. */
export interface ResponseFormat {
  headers: Record<string, string>;
  write(expansion: Expansion, query: Record<'u' | 'cb' | 'err' | 'follow', string>): string;
  /** The status of every response. By default, it depends on the error. */
  status?: number;
  /** The status if there is nothing to expand. By default 200. */
  emptyStatus?: number;
}

/** With `nosniff`, browsers would not run these scripts, because their type is text/html. */
const { 'X-Content-Type-Options': _, ...jsonpHeaders } = apiHeaders;

export const formats = {
  /** The long URL or the error message. */
  text: {
    headers: apiHeaders,
    write: (expansion) => failureOf(expansion)?.message ?? expansion.longUrl ?? '',
  },
  /** The same in a JSON object. */
  json: {
    headers: apiHeaders,
    write(expansion, { u }) {
      const { longUrl, redirectCount } = expansion;
      return asciiJson(failureOf(expansion) ?? { url: u, longUrl, redirects: redirectCount });
    },
    emptyStatus: 400,
  },
  /** Calls `cb` with the long URL. */
  jsonp: {
    headers: jsonpHeaders,
    write: ({ longUrl }, { cb }) => callbackCall(cb, longUrl ?? ''),
  },
  /** Calls `err` with the error. Browsers run a script only if its status is 2xx. */
  jsonpError: {
    headers: jsonpHeaders,
    write: (expansion, { err }) => callbackCall(err, failureOf(expansion)),
    status: 200,
  },
  /** Every hop. Only this format has the JSON content type. */
  chain: {
    headers: { ...apiHeaders, 'Content-Type': 'application/json' },
    write({ hops, freshUntil: _, staleUntil: __, sources: ___, ...rest }, { u, follow }) {
      const shown = hops.map(({ freshUntil: _, ...hop }) => hop);
      return asciiJson({ url: u, follow, hops: shown, ...rest });
    },
    emptyStatus: 400,
  },
} satisfies Record<string, ResponseFormat>;

/** Why there is no long URL; undefined if there is a long URL. */
function failureOf({ end, error }: Expansion): { code: string; message: string } | undefined {
  if (error) return { code: error.code, message: error.message };
  return end.code === 'empty' ? { code: 'empty', message: '`u` argument required.' } : undefined;
}

/** Calls `name`. The JSON contains no `</`, U+2028 or U+2029. */
export function callbackCall(name: string, value: unknown): string {
  return `${name}(${asciiJson(value)})`;
}
