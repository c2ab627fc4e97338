export const rows = () => [...document.querySelectorAll<HTMLElement>('.tasks > li:not([data-pending=gone])')];
const near = (row: HTMLElement, by: 1 | -1) => rows()[rows().indexOf(row) + by];
const placeOf = (row: HTMLElement) => ({ row, above: near(row, -1), below: near(row, 1) });

/** Former neighbors of a focused row that has moved or gone. Arrow keys start between them. */
let left: Partial<ReturnType<typeof placeOf>> = {};

/** Moves the focus from `row` to the list, where no key acts on a task. */
export function leave(row: HTMLElement) {
  left = placeOf(row);
  document.getElementById('list')?.focus({ preventScroll: true });
}

/** Returns the row above or below `row`, or near the last focused row if `row` is null. */
export function next(row: HTMLElement | null, key: 'ArrowUp' | 'ArrowDown') {
  const from = row && row !== left.row ? placeOf(row) : left;
  left = {};
  const [to, other] = key === 'ArrowUp' ? [from.above, from.below] : [from.below, from.above];
  return (row ? [to] : [to, other, rows()[0]]).find((place) => place && rows().includes(place));
}

/** Returns a function that restores the focus after a morph, to the control, its row, or the list. */
export function keepFocus(own: boolean) {
  const focused = document.activeElement as HTMLElement;
  const row = focused.closest<HTMLElement>('.tasks > li');
  const before = row && placeOf(row);
  return () => {
    const isMoved = row && near(row, -1) !== before?.above && near(row, 1) !== before?.below;
    if (before && (own ? isMoved && row !== left.row : !row.isConnected)) left = before;
    const active = document.activeElement as HTMLElement;
    if (active !== document.body && active.checkVisibility()) return;
    const places = [focused, row, document.getElementById('list')];
    places.find((place) => place?.isConnected && place.checkVisibility())?.focus({ preventScroll: true });
  };
}
