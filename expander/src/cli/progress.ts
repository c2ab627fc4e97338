/** The part of standard error that a progress bar needs. */
export interface Terminal {
  isTTY?: boolean;
  write(text: string): unknown;
}

const width = 30;
/** Milliseconds between two drawings. */
const interval = 100;

/** Draws a progress bar on a terminal; elsewhere it only writes a summary at the end. */
export function createProgress(terminal: Terminal, total: number, now: () => number = Date.now) {
  let done = 0;
  let failed = 0;
  let drawn = Number.NEGATIVE_INFINITY;
  const draw = () => {
    const filled = total === 0 ? width : Math.floor((width * done) / total);
    const bar = '#'.repeat(filled).padEnd(width, '-');
    terminal.write(`\r[${bar}] ${done}/${total}${failed > 0 ? `, ${failed} failed` : ''}`);
    drawn = now();
  };
  return {
    step(success: boolean) {
      done += 1;
      if (!success) failed += 1;
      if (terminal.isTTY && now() - drawn >= interval) draw();
    },
    end() {
      if (terminal.isTTY) {
        draw();
        terminal.write('\n');
      } else {
        terminal.write(`${done} expanded, ${failed} of them failed\n`);
      }
      return failed;
    },
  };
}
