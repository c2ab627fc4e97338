/** The part of standard error that the progress needs. */
export interface Terminal {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** Milliseconds between two drawings. */
const interval = 100;

/** Counts what is done: draws the counts on a terminal, and elsewhere writes them at the end only. */
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
    /** How many have failed so far. */
    failed: () => failed,
    end(remark = '') {
      terminal.write(`${terminal.isTTY ? '\r' : ''}${summary()}${remark}\n`);
    },
  };
}
