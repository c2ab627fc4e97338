import type { Writable } from 'node:stream';
import { controls } from '@longhand/shared/control-characters.ts';
import type { BulkLine } from '../bulk/process-list.ts';
import { asciiJson } from '../web/ascii-json.ts';

/** Writes a result as one line. Control characters are escaped: they could end the line, control the terminal or reorder its text. */
export type Format = (line: BulkLine) => string;

export const formats = {
  ndjson: (line) => `${asciiJson(line)}\n`,
  tsv: ({ line, url, longUrl, redirectCount, error }) =>
    `${[line, url, longUrl ?? '', redirectCount, error?.code ?? ''].map(field).join('\t')}\n`,
} satisfies Record<string, Format>;

function field(value: string | number): string {
  return String(value).replace(controls, encodeURIComponent);
}

export type Output = ReturnType<typeof createOutput>;

/** Writes lines to `stream`, batched for each turn of the event loop. */
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
    /** @returns if the reader is slow, a promise to await before the next write. */
    write(line: string): Promise<void> | undefined {
      if (text === '') setImmediate(flush);
      text += line;
      return drained;
    },
    /** Resolves when everything has been handed to the system; never, if that fails. */
    end(last = '') {
      const rest = text + last;
      text = '';
      return new Promise<undefined>((resolve) => stream.write(rest, (error) => error ?? resolve(undefined)));
    },
  };
}

/** The part of standard error that the progress needs. */
export interface Terminal {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** Milliseconds between two drawings. */
const interval = 100;

export type Progress = ReturnType<typeof createProgress>;

/** Counts results. Draws the counts on a terminal; elsewhere writes them once, at the end. */
export function createProgress(terminal: Terminal, now: () => number = Date.now) {
  let done = 0;
  let failed = 0;
  let drawn = Number.NEGATIVE_INFINITY;
  const summary = () => `${done} processed, ${failed} failed`;
  return {
    step(success: boolean) {
      done += 1;
      if (!success) failed += 1;
      if (!terminal.isTTY || now() - drawn < interval) return;
      terminal.write(`\r${summary()}`);
      drawn = now();
    },
    /** Failures so far. */
    failed: () => failed,
    end(remark = '') {
      terminal.write(`${terminal.isTTY ? '\r' : ''}${summary()}${remark}\n`);
    },
  };
}
