/** A page, or a part of it, from the server. */
export type Page = Document | DocumentFragment;

/** The task's text fields, as data. A browser may have translated what it displays. */
export type TaskText = Partial<Record<string, string>>;

export const list = () => document.getElementById('list') as HTMLElement;

export const rowsIn = (page: ParentNode) => [...page.querySelectorAll<HTMLElement>('.tasks > li')];

/** The rows that the user can use: without deleted ones. */
export const rows = () => rowsIn(document).filter((row) => row.matches(':not([data-pending=gone], [inert])'));

/** The state that the user sees. */
export const stateOf = (row: HTMLElement) =>
  row.dataset.pending ?? (row.matches('.finished') ? 'finished' : 'open');

/** Shows a state that the server has not confirmed, or no longer. The label says what a tap does. */
export function showPending(row: HTMLElement, state?: 'finished' | 'open' | 'gone') {
  if (state) row.dataset.pending = state;
  else delete row.dataset.pending;
  const toggle = row.querySelector<HTMLElement>('.toggle');
  if (!toggle) return;
  const verb = stateOf(row) === 'finished' ? 'Reopen' : 'Finish';
  toggle.title = verb;
  toggle.ariaLabel = `${verb}: ${textOf(row).title}`;
}

export const textOf = (row: HTMLElement): TaskText => JSON.parse(row.dataset.task ?? '{}');

/** Returns the element that contains the rows, and creates it if the list is empty. */
export function rowsElement(page: ParentNode): Element {
  const found = page.querySelector('.tasks');
  if (found) return found;
  const created = make('ul', { className: 'tasks', role: 'list' });
  page.querySelector('#after')?.before(created);
  return created;
}

/** Inserts `row` below the nearest of the rows `above` that `page` contains, or at the top. */
export function putBelow(page: ParentNode, row: Element, above: Element[]) {
  const ids = above.map(({ id }) => id);
  const place = rowsIn(page).findLast(({ id }) => ids.includes(id));
  if (place) place.after(row);
  else rowsElement(page).prepend(row);
}

export const make = <T extends keyof HTMLElementTagNameMap>(tag: T, as: Partial<HTMLElementTagNameMap[T]>) =>
  Object.assign(document.createElement(tag), as);
