import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';

/** One measurement of k6. */
export interface Sample {
  metric: string;
  /** Milliseconds since 1970. */
  at: number;
  value: number;
  tags: Record<string, string>;
}

/** The trends that reports are made of. */
const trends = /^(http_req_duration|time_\w+)$/;

/** System tags with a column of their own; all other tags share one. */
const tagColumns = ['name', 'scenario', 'method', 'status'];

/** Reads what k6 wrote with `--out csv=<file>.csv.gz` and times in milliseconds: the metrics that are `wanted`. */
export async function readSamples(file: string, wanted = trends): Promise<Sample[]> {
  const samples: Sample[] = [];
  let columns: string[] | undefined;
  for await (const line of createInterface({ input: createReadStream(file).pipe(createGunzip()) })) {
    if (!columns) {
      columns = line.split(',');
      continue;
    }
    if (!wanted.test(line.slice(0, line.indexOf(',')))) continue;
    const values = splitRow(line);
    const value = (column: string) => values[columns?.indexOf(column) ?? -1] ?? '';
    samples.push({
      metric: value('metric_name'),
      at: Number(value('timestamp')),
      value: Number(value('metric_value')),
      tags: {
        ...Object.fromEntries(tagColumns.map((column) => [column, value(column)])),
        ...Object.fromEntries(new URLSearchParams(value('extra_tags'))),
      },
    });
  }
  return samples;
}

/** The fields of a row; one with a comma in it is quoted (RFC 4180). */
function splitRow(line: string): string[] {
  if (!line.includes('"')) return line.split(',');
  return [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, field = '']) =>
    field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field,
  );
}

/** Whether `tags` has all of `selector`. */
export const matches = (tags: Record<string, string>, selector: Record<string, string>) =>
  Object.entries(selector).every(([name, value]) => tags[name] === value);
