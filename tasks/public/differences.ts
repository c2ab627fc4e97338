import { rowsIn } from './dom.js';

/** The row's place in the whole list: open tasks first, then the newest. Ids are below 2^52. */
function placeOf(row: Element) {
  const id = Number(row.id.replace('task-', ''));
  return row.matches('.finished') ? -id : -id - 2 ** 52;
}

/** Whether `row` belongs to an earlier or later page than `list`. */
export function isElsewhere(row: Element, list: ParentNode) {
  const shown = rowsIn(list);
  const [first, last] = [shown.at(0), shown.at(-1)];
  if (!first || !last) return false;
  const isLater = list.querySelector('[rel=next]') !== null && placeOf(row) > placeOf(last);
  const isEarlier = list.querySelector('[rel=prev]') !== null && placeOf(row) < placeOf(first);
  return isLater || isEarlier;
}

/** Whether the row with this id moves between two lists of the server, or leaves. */
export function moves(id: string, before: ParentNode, after: ParentNode) {
  const [old, fresh] = [before, after].map((list) => rowsIn(list).find((row) => row.id === id));
  if (!fresh) return true;
  return old !== undefined && old.matches('.finished') !== fresh.matches('.finished');
}

/** The ids of the rows that differ between two lists of the server. Ignores rows that only moved to another page. */
export function differences(before: ParentNode, after: ParentNode): string[] {
  const old = new Map(rowsIn(before).map((row) => [row.id, row]));
  const fresh = new Map(rowsIn(after).map((row) => [row.id, row]));
  const added = [...fresh.values()].filter((row) => !old.has(row.id) && !isElsewhere(row, before));
  const changed = [...old.values()].filter((row) => {
    const now = fresh.get(row.id);
    if (now) return now.matches('.finished') !== row.matches('.finished');
    return !isElsewhere(row, after);
  });
  return [...added, ...changed].map(({ id }) => id);
}
