import { keepFocus, rows } from './focus.js';
import { make } from './notice.js';

declare const Idiomorph: typeof import('idiomorph').Idiomorph;

// Without the library this throws. Then no script runs, and the page works with plain links and forms.
const { morph: morphElement } = Idiomorph;

const list = () => document.getElementById('list') as HTMLElement;

type Page = Document | DocumentFragment;

export const shownVersion = () => list().dataset.version;

const is = (node: Node, selector: string) => node instanceof Element && node.matches(selector);

/** Keeps forms in use, and row state that scripts set. */
const callbacks = {
  beforeNodeMorphed: (old: Node, fresh: Node) =>
    !is(old, '.write, .find, .editing') && !(is(old, '#notice') && !fresh.textContent?.trim()),
  beforeNodeRemoved: (old: Node) => !is(old, '.write'),
  beforeAttributeUpdated: (name: string) => name !== 'data-pending' && name !== 'open',
};

/** Edited and newly finished rows stay in place. */
const staying = ':is(.editing, [data-pending=finished])';

/** The server's last list, while a row has not yet moved. */
let received: DocumentFragment | undefined;

/** Returns the parent element of the rows, and creates it if the list is empty. */
export function rowsOf(page: ParentNode) {
  const rows = page.querySelector('.tasks') ?? make('ul', { className: 'tasks', role: 'list' });
  page.querySelector('.empty')?.remove();
  if (!rows.parentElement) page.querySelector('#after')?.before(rows);
  return rows;
}

/** Moves staying rows in `page` above the rows that follow them now. Adds edited rows only if `page` lacks them. */
function keepRows(page: Page) {
  for (const row of [...list().querySelectorAll(staying)].reverse()) {
    const fresh = page.getElementById(row.id);
    if (fresh && row.matches('.editing')) continue;
    const below = page.getElementById(row.nextElementSibling?.id ?? '');
    rowsOf(page).insertBefore(fresh ?? row.cloneNode(true), below);
  }
}

/** Returns a function that tints rows for two seconds if they are new or newly finished since this call. */
function watchRows() {
  const before = new Map(rows().map((row) => [row.id, row.matches('.finished')]));
  return () => {
    const isNews = (row: HTMLElement) =>
      !before.has(row.id) || (row.matches('.finished') && !before.get(row.id));
    const tint = { backgroundColor: ['var(--tint)', 'var(--tint)'] };
    for (const row of rows().filter(isNews)) row.animate(tint, 2_000);
  };
}

/** Replaces the list, or the whole page, with the version in `page`. Keeps unchanged elements. Calls `first` beforehand. */
export function morph(part: '#list' | 'main', page: Page, first: (page: Page) => void = () => {}) {
  const own = part === 'main' || page === received;
  const refocus = keepFocus(own);
  const tint = own ? () => {} : watchRows();
  first(page);
  received = document.querySelector(staying) ? new DocumentFragment() : undefined;
  received?.append((page.querySelector('#list') as Element).cloneNode(true));
  keepRows(page);
  morphElement(document.querySelector(part) as Element, page.querySelector(part), { callbacks });
  const token = page.querySelector<HTMLInputElement>('[name=_csrf]')?.value;
  for (const field of document.querySelectorAll<HTMLInputElement>('[name=_csrf]'))
    field.value = token ?? field.value;
  refocus();
  tint();
  const { title, open } = list().dataset;
  document.title = title ?? document.title;
  (document.querySelector('[rel=icon]') as HTMLLinkElement).href = `/icon?open=${open}`;
}

/** Moves rows to their place in the server's list. */
export const showReceived = () => received && morph('#list', received);
