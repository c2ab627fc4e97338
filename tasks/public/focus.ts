export const rows = () => [...document.querySelectorAll<HTMLElement>('.tasks > li:not([data-pending=gone])')];

/** Former position of the focused row. Arrow keys start there. */
let left: { row: Element | null; at: number } = { row: null, at: 0 };
const placeOf = (row: HTMLElement) => ({ row, at: rows().indexOf(row) });

/** Moves the focus from `row` to the list, where no key acts on a task. */
export function leave(row: HTMLElement) {
  left = placeOf(row);
  document.getElementById('list')?.focus({ preventScroll: true });
}

/** Returns the row above or below `row`, or near the last focused row if `row` is null. */
export function next(row: HTMLElement | null, key: 'ArrowUp' | 'ArrowDown') {
  const from = row && row !== left.row ? placeOf(row) : left;
  left = { row: null, at: 0 };
  const others = rows().filter((other) => other !== from.row);
  const [to, other] = key === 'ArrowUp' ? [from.at - 1, from.at] : [from.at, from.at - 1];
  return others[to] ?? (row ? undefined : others[other]);
}

/** Returns a function that restores the focus after a morph, to the control, its row, or the list. */
export function keepFocus(own: boolean) {
  const focused = document.activeElement as HTMLElement;
  const row = focused.closest<HTMLElement>('.tasks > li');
  const before = row && placeOf(row);
  return () => {
    if (before && (own ? row !== left.row : !row.isConnected)) left = before;
    else if (!own && row === left.row) left = { row: null, at: 0 };
    const active = document.activeElement as HTMLElement;
    if (active !== document.body && active.checkVisibility()) return;
    const places = [focused, row, document.getElementById('list')];
    places.find((place) => place?.isConnected && place.checkVisibility())?.focus({ preventScroll: true });
  };
}
