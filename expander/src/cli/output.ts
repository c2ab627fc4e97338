import type { Writable } from 'node:stream';
import { controls } from '@longhand/shared/control-characters.ts';
import type { BulkLine } from '../bulk/process-list.ts';
import { asciiJson } from '../web/ascii-json.ts';

export type Format = (line: BulkLine) => string;

/** Each format writes one line per result, without terminal control characters. */
export const formats = {
  ndjson: (line) => `${asciiJson(line)}\n`,
  tsv: ({ line, url, longUrl, redirectCount, error, end, warning, reason }) => {
    const verdict = [end?.code ?? '', warning ?? '', reason ?? ''];
    return `${[line, url, longUrl ?? '', redirectCount, error?.code ?? '', ...verdict].map(field).join('\t')}\n`;
  },
} satisfies Record<string, Format>;

function field(value: string | number): string {
  return String(value).replace(controls, encodeURIComponent);
}

export type Output = ReturnType<typeof createOutput>;

/** Writes lines to `stream`, one batch per event loop turn. */
export function createOutput(stream: Writable) {
  let text = '';
  let drained: Promise<void> | undefined;
  const flush = () => {
    const hasRoom = stream.write(text);
    text = '';
    if (hasRoom || drained) return;
    drained = new Promise((resolve) =>
      stream.once('drain', () => {
        drained = undefined;
        resolve();
      }),
    );
  };
  const failed = new Promise<never>((_, reject) => stream.on('error', reject));
  return {
    /** Rejects when `stream` fails. */
    failed,
    /** @returns a promise to await before the next write if the stream is full. */
    write(line: string): Promise<void> | undefined {
      if (text === '') setImmediate(flush);
      text += line;
      return drained;
    },
    /** Resolves when all text is written. If writing fails, only `failed` settles. */
    end(last = '') {
      const rest = text + last;
      text = '';
      return new Promise<undefined>((resolve) => stream.write(rest, (error) => error ?? resolve(undefined)));
    },
  };
}

/** Milliseconds between updates. */
const interval = 100;

export type Progress = ReturnType<typeof createProgress>;

/** Counts results and writes the counts at the end. @param isDrawn whether to show the counts during the run. */
export function createProgress(isDrawn: boolean, write: (text: string) => unknown) {
  let done = 0;
  let failed = 0;
  let drawn = Number.NEGATIVE_INFINITY;
  const summary = () => `${isDrawn ? '\r' : ''}${done} processed, ${failed} failed`;
  return {
    step(success: boolean) {
      done += 1;
      if (!success) failed += 1;
      if (!isDrawn || Date.now() - drawn < interval) return;
      write(summary());
      drawn = Date.now();
    },
    failed: () => failed,
    end(remark = '') {
      write(`${summary()}${remark}\n`);
    },
  };
}
