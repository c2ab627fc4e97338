import type { BulkLine } from '../bulk/process-line.ts';
import type { Expansion, Follow } from '../expansion/expansion.ts';
import { asciiJson } from './ascii-json.ts';
import { apiHeaders, jsonpHeaders, noStore, unbuffered } from './responses.ts';

/** What an answer repeats of its request. */
export interface AskedFor {
  u: string;
  cb: string;
  follow: Follow;
}

/** A way to write an answer of the API. */
interface Format<Given extends unknown[]> {
  headers: Record<string, string>;
  write(...given: Given): string;
  /** The status if there is nothing to expand; 200 by default. */
  emptyStatus?: number;
}

export type AnswerFormat = Format<[Expansion, AskedFor]>;

export const formats = {
  /** The long URL, or the sentence of an error. */
  text: {
    headers: apiHeaders,
    write: ({ error, longUrl }) => error?.message ?? longUrl ?? '`u` argument required.',
  },
  /** A call with the long URL. There is none for an error, which is text. */
  jsonp: {
    headers: jsonpHeaders,
    write: ({ longUrl }, { cb }) => callbackCall(cb, longUrl ?? ''),
  },
  /** Every hop: the one format that is JSON, its errors too. */
  chain: {
    headers: { ...apiHeaders, 'Content-Type': 'application/json' },
    write({ hops, freshUntil: _, ...rest }, { u, follow }) {
      const shown = hops.map(({ freshUntil: _, isProvisional: __, ...hop }) => hop);
      return asciiJson({ url: u, follow, hops: shown, ...rest });
    },
    emptyStatus: 400,
  },
  /** A line of JSON for each URL of a list. What is wrong with the list as a whole is text. */
  ndjson: {
    headers: { ...apiHeaders, ...noStore, ...unbuffered },
    write: (line) => `${asciiJson(line)}\n`,
  },
} satisfies Record<'text' | 'jsonp' | 'chain', AnswerFormat> & { ndjson: Format<[BulkLine]> };

/** `name("...")`; the string contains neither `</` nor JavaScript's line ends U+2028 and U+2029. */
export function callbackCall(name: string, text: string): string {
  return `${name}(${asciiJson(text)})`;
}
