import { controls } from '@longhand/shared/control-characters.ts';
import type { BulkLine } from '../bulk/process-line.ts';
import { asciiJson } from '../web/ascii-json.ts';

/** Writes a result as one line. Controls are escaped: they could end the line, command the terminal or reorder what it shows. */
export type Format = (line: BulkLine) => string;

export const formats = {
  ndjson: (line) => `${asciiJson(line)}\n`,
  tsv: ({ line, url, longUrl, redirectCount, error }) =>
    `${[line, url, longUrl ?? '', redirectCount, error?.code ?? ''].map(field).join('\t')}\n`,
} satisfies Record<string, Format>;

function field(value: string | number): string {
  return String(value).replace(controls, encodeURIComponent);
}
