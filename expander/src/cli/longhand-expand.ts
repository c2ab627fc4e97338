#!/usr/bin/env node
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { createLog } from '@longhand/shared/log.ts';
import { type BulkLine, expandMany } from '../bulk/expand-many.ts';
import { readUrls } from '../bulk/url-list.ts';
import { readConfig } from '../config.ts';
import { createExpansion } from '../expander.ts';
import { setUpResolver } from '../guard/resolver.ts';
import { asciiJson } from '../web/ascii-json.ts';
import { createProgress } from './progress.ts';

const usage = `longhand-expand [--follow=all] [--format=ndjson|tsv] [URL ...] < urls.txt

Expands the given short URLs, or those on standard input, one per line or as a JSON array.
Writes one line for each URL as it is done, and the progress to standard error.

  --follow=all   also follow 303, 307 and 308, and try GET if a host refuses HEAD
  --format=tsv   write line, URL, long URL, redirects and error code; the default is NDJSON

The service's variables EXPANDER_* apply. Exits with 1 if a URL failed and with 2 after wrong usage.
`;

/** Control characters are escaped: they could end the line or control the terminal. */
const formats = {
  ndjson: (line: BulkLine) => `${asciiJson(line)}\n`,
  tsv: ({ line, url, longUrl, redirectCount, error }: BulkLine) =>
    `${[line, url, longUrl ?? '', redirectCount, error?.code ?? ''].map(field).join('\t')}\n`,
};

function field(value: string | number): string {
  return String(value).replace(/\p{Cc}/gu, encodeURIComponent);
}

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      follow: { type: 'string', default: 'default' },
      format: { type: 'string', default: 'ndjson' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { follow, format, help } = values;
  if (follow !== 'default' && follow !== 'all') throw new Error(`--follow=${follow}: use default or all`);
  if (format !== 'ndjson' && format !== 'tsv') throw new Error(`--format=${format}: use ndjson or tsv`);
  return { follow, format: formats[format], help, urls: positionals } as const;
}

async function main(): Promise<number> {
  const { follow, format, help, urls } = readArguments();
  if (help) {
    process.stdout.write(usage);
    return 0;
  }
  setUpResolver();
  const lines = readUrls(urls.length > 0 ? urls.join('\n') : await text(process.stdin), {
    max: Number.POSITIVE_INFINITY,
  });
  const config = readConfig(process.env);
  const { expand, close } = createExpansion(config, { log: createLog('longhand-expand', 'silent') });
  const progress = createProgress(process.stderr, lines.length);
  const output = async function* () {
    for await (const line of expandMany(expand.trace, lines, { follow, onFault: console.error })) {
      progress.step(line.error === null);
      yield format(line);
    }
  };
  try {
    await pipeline(Readable.from(output()), process.stdout);
  } catch (error) {
    // The reader has left, as `head` does.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  } finally {
    close();
  }
  return progress.end() > 0 ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  process.exitCode = 2;
}
