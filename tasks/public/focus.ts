export const list = () => document.getElementById('list') as HTMLElement;
export const rows = () => [...document.querySelectorAll<HTMLElement>('.tasks > li:not([data-pending=gone])')];
/** The places of the rows, and of the parts that move with them. */
export const places = () =>
  [...rows(), ...document.querySelectorAll<HTMLElement>('.bar, .find, #after, .clear, footer')].map(
    (part) => ({ part, finished: part.matches('.finished'), box: part.getBoundingClientRect() }),
  );

/** The places of rows that have not moved or gone since. */
export const inPlace = (before: ReturnType<typeof places>, now = rows()) =>
  before.filter(({ part, finished }) => now.includes(part) && part.matches('.finished') === finished);

/** A focused row that has moved or gone, and all rows before that. Arrow keys start at its former place. */
let left: { row?: HTMLElement; before: ReturnType<typeof places> } = { before: [] };

/** Moves the focus from `row` to the list, where no key acts on a task. */
export function leave(row: HTMLElement) {
  left = { row, before: places() };
  list().focus({ preventScroll: true });
}

/** Returns the row above or below `row`, or near the place that the focused row has left. Skips rows that have moved. */
export function next(row: HTMLElement | null, key: 'ArrowUp' | 'ArrowDown') {
  const from = row && row !== left.row ? { row, before: places() } : left;
  left = { before: [] };
  const order = key === 'ArrowUp' ? from.before.toReversed() : from.before;
  const nearest = order.slice(order.findIndex(({ part }) => part === from.row) + 1);
  return inPlace([...nearest, ...order.toReversed(), ...places()])[0]?.part;
}

/** Returns a function that restores the focus after a morph, to the control, its row, or the list. */
export function keepFocus() {
  const focused = document.activeElement as HTMLElement;
  const row = focused.closest<HTMLElement>('.tasks > li');
  const before = places();
  return () => {
    if (row && row !== left.row && !inPlace(before).some(({ part }) => part === row)) left = { row, before };
    const choice = [document.querySelector<HTMLElement>('body :focus'), focused, row, list()];
    choice.find((part) => part?.isConnected && part.checkVisibility())?.focus({ preventScroll: true });
  };
}
