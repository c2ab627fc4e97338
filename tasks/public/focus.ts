const rows = () => [...document.querySelectorAll<HTMLElement>('.tasks > li:not([data-pending=gone])')];

/** The rows around one that has moved or is gone: the arrow keys go on there. */
let left: { row: Element | null; above?: HTMLElement | undefined; below?: HTMLElement | undefined } = {
  row: null,
};

function around(row: Element) {
  const all = rows();
  const i = all.indexOf(row as HTMLElement);
  return { row, above: all[i - 1], below: all[i + 1] };
}

/** Moves the focus from `row`, which is about to go, to the list, where no key acts on a task. */
export function leave(row: Element) {
  left = around(row);
  document.getElementById('list')?.focus({ preventScroll: true });
}

/** The row to which an arrow key leads from `row`, or from the list. */
export function next(row: Element | null, key: 'ArrowUp' | 'ArrowDown') {
  const from = row && row !== left.row ? around(row) : left;
  left = { row: null };
  const [to, other] = key === 'ArrowUp' ? [from.above, from.below] : [from.below, from.above];
  return row ? to : ([to, other].find((place) => place?.isConnected) ?? rows()[0]);
}

/**
 * Remembers what has the focus. The result, called after the page has changed, gives it to the same control, to its row if
 * that is gone, or to the list: nothing that a key could press.
 *
 * @param own whether the reader changed the page, so that the arrow keys go on where the row was
 */
export function keepFocus(own: boolean) {
  const focused = document.activeElement as HTMLElement;
  if (focused === document.body) return () => {};
  const row = focused.closest<HTMLElement>('.tasks > li');
  const before = row && around(row);
  const field = focused.closest('#notice') && document.getElementById('title');
  return () => {
    if (before && (own || !row.isConnected)) left = before;
    const active = document.activeElement as HTMLElement;
    if (active !== document.body && active.checkVisibility()) return;
    const places = [focused, row, field, document.getElementById('list')];
    places.find((place) => place?.isConnected && place.checkVisibility())?.focus({ preventScroll: true });
  };
}

/** Gives the focus to `field`, unless somebody is typing in another one. */
export function offerFocus(field: HTMLElement) {
  if (!document.activeElement?.matches('input, textarea')) field.focus();
}
