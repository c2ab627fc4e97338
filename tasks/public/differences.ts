import { type Page, rowsIn } from './dom.js';

/** The row's place in the whole list: open tasks first, then the newest. IDs are below 2^52. */
function placeOf(row: Element) {
  const id = Number(row.id.replace('task-', ''));
  return row.matches('.finished') ? -id : -id - 2 ** 52;
}

/** Whether `row` belongs to an earlier or later page than `list`. */
export function isElsewhere(row: Element, list: ParentNode) {
  const shown = rowsIn(list);
  const first = shown.at(0);
  const last = shown.at(-1);
  if (!first || !last) return false;
  const isLater = list.querySelector('[rel=next]') !== null && placeOf(row) > placeOf(last);
  const isEarlier = list.querySelector('[rel=prev]') !== null && placeOf(row) < placeOf(first);
  return isLater || isEarlier;
}

/** Whether somebody has finished or reopened the task between two lists. */
const isToggled = (old: Element, fresh: Element) => old.matches('.finished') !== fresh.matches('.finished');

/** Whether the row with this ID moves between two lists of the server, or leaves. */
export function moves(id: string, before: Page, after: Page) {
  const old = before.getElementById(id);
  const fresh = after.getElementById(id);
  return !fresh || (old !== null && isToggled(old, fresh));
}

/** The IDs of rows that were finished, reopened or deleted between two lists of the server, not just moved to another page. */
export function changes(before: Page, after: Page): string[] {
  const changed = rowsIn(before).filter((row) => {
    const fresh = after.getElementById(row.id);
    return fresh ? isToggled(row, fresh) : !isElsewhere(row, after);
  });
  return changed.map(({ id }) => id);
}
