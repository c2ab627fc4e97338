import type { Writable } from 'node:stream';

/** Writes lines to `stream`, those of one turn of the event loop together. */
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
  return {
    /** @returns a promise to wait for before more is written, if the reader is slow. */
    write(line: string): Promise<void> | undefined {
      if (text === '') setImmediate(flush);
      text += line;
      return drained;
    },
    /** Resolves when everything has been handed to the system; never, if that fails, which the stream tells itself. */
    end() {
      const rest = text;
      text = '';
      return new Promise<void>((resolve) => stream.write(rest, (error) => error ?? resolve()));
    },
  };
}
