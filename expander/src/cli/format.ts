import type { BulkLine } from '../bulk/expand-line.ts';
import { asciiJson } from '../web/ascii-json.ts';

/** Writes a result as one line. Control characters are escaped: they could end the line or control the terminal. */
export type Format = (line: BulkLine) => string;

export const formats = {
  ndjson: (line) => `${asciiJson(line)}\n`,
  tsv: ({ line, url, longUrl, redirectCount, error }) =>
    `${[line, url, longUrl ?? '', redirectCount, error?.code ?? ''].map(field).join('\t')}\n`,
} satisfies Record<string, Format>;

function field(value: string | number): string {
  return String(value).replace(/\p{Cc}/gu, encodeURIComponent);
}
