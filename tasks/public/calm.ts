// No row moves while somebody may be about to touch it. What the server sends changes rows in place. Their order, and rows that
// others have added or deleted, wait until the list is at rest.
import { changes, isElsewhere, moves } from './differences.js';
import { list, type Page, putBelow, rows, rowsElement, rowsIn, stateOf } from './dom.js';
import { leave, skip } from './focus.js';
import { morph, type Part } from './morph.js';
import { guardMoves, ignoreTaps, tint } from './moves.js';
import { offerChanges } from './notice.js';
import { isAtRest, whenAtRest } from './rest.js';

const copyOf = (page: ParentNode) => {
  const copy = new DocumentFragment();
  copy.append((page.querySelector('#list') as Element).cloneNode(true));
  return copy;
};

/** The server's list in whose order the rows stand. */
let ordered = copyOf(document);

/** The server's newest list. */
let newest = ordered;

/** The IDs of rows that this user has changed since `ordered`. */
const own = new Set<string>();

/** The IDs of rows that this user has added or restored since `ordered`. */
const coming = new Set<string>();

/** Tells that this user has changed the rows with these IDs, so they are not among others' changes. */
export function claim(ids: string[]) {
  for (const id of ids) own.add(id);
}

/** Shows the rows with these IDs at once, because this user has added or restored them. */
export function bring(ids: string[]) {
  claim(ids);
  for (const id of ids) coming.add(id);
}

/** Shows a list from the server: as a whole if the list is at rest, else only what moves no row. */
export function receive(part: Part, page: Page) {
  newest = copyOf(page);
  if (isAtRest() || rows().length === 0) return settle(part, page);
  const mark = watchOthers();
  keepPlaces(page);
  morph(part, page);
  mark();
  offerChanges(countOthers(), () => settle());
  whenAtRest(settle);
}

/** The number of rows that others have added, restored or changed, without deleted tasks whose open form stays. */
function countOthers() {
  const missing = rowsIn(newest).filter(
    (row) => !document.getElementById(row.id) && !isElsewhere(row, ordered),
  );
  const stays = (id: string) => !newest.getElementById(id) && document.querySelector(`#${id}.editing`);
  const changed = changes(ordered, newest).filter((id) => !own.has(id) && !stays(id));
  return missing.length + changed.length;
}

/** Shows the newest list again, for example in a row whose form has closed. */
export const redraw = () => receive('#list', copyOf(newest));

/** Shows the server's newest list in its order. */
function settle(part: Part = '#list', page: Page = copyOf(newest)) {
  const moving = rows().filter((row) => moves(row.id, ordered, newest));
  const focused = document.activeElement?.closest<HTMLElement>('.tasks > li:not(.editing)');
  if (focused && moving.includes(focused)) leave(focused);
  skip(moving);
  const mark = watchOthers();
  keepForms(page);
  morph(part, page);
  guardMoves({ isAnimated: true });
  mark();
  ordered = newest;
  own.clear();
  coming.clear();
  offerChanges(0);
}

/** Returns a function that tints what others have added or finished. A tap must not take back what they have just done. */
function watchOthers() {
  const before = new Map(rowsIn(document).map((row) => [row.id, stateOf(row)]));
  return () => {
    const others = rows().filter(({ id }) => !own.has(id));
    const added = others.filter(({ id }) => !before.has(id));
    const changed = others.filter((row) => before.has(row.id) && before.get(row.id) !== stateOf(row));
    ignoreTaps(changed);
    tint([...added, ...changed.filter((row) => stateOf(row) === 'finished')]);
  };
}

/** Arranges the rows of `page` as the document shows them, with this user's new rows. */
function keepPlaces(page: Page) {
  const arrived = rowsIn(page);
  const kept = rowsIn(document).flatMap((row) => page.getElementById(row.id) ?? whatIsLeftOf(row));
  rowsElement(page).replaceChildren(...kept);
  for (const [i, row] of arrived.entries()) {
    if (coming.has(row.id) && !kept.includes(row)) putBelow(page, row, arrived.slice(0, i));
  }
}

/** Returns what stands for a row that the server's list does not have: nothing, a row, or a dimmed row that ignores taps. */
function whatIsLeftOf(row: HTMLElement): HTMLElement | [] {
  if (row.dataset.pending === 'gone') return [];
  // The form of a row keeps it from becoming like its copy.
  row.classList.toggle('finished', stateOf(row) === 'finished');
  const copy = row.cloneNode(true) as HTMLElement;
  copy.inert = fitsFilter(row) && !row.matches('.editing') && !isElsewhere(copy, newest);
  if (copy.inert && row.contains(document.activeElement)) leave(row);
  return copy;
}

/** Whether the filter shows tasks in this row's state. A row that does not fit is missing from the list, but not deleted. */
function fitsFilter(row: HTMLElement) {
  const filter = new URL(location.href).searchParams.get('filter');
  return (filter !== 'open' && filter !== 'finished') || filter === stateOf(row);
}

/** Keeps the open forms of tasks that the server's list does not have. */
function keepForms(page: Page) {
  const shown = rowsIn(list());
  for (const [i, row] of shown.entries()) {
    if (row.matches('.editing') && !page.getElementById(row.id))
      putBelow(page, row.cloneNode(true) as Element, shown.slice(0, i));
  }
}
