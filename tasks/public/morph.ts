import { inPlace, keepFocus, list, places } from './focus.js';
import { make } from './notice.js';

declare const Idiomorph: typeof import('idiomorph').Idiomorph;
// Throws if the library is missing, so that the page falls back to plain links and forms.
const { morph: morphElement } = Idiomorph;

type Page = Document | DocumentFragment;

const is = (node: Node, selector: string) => node instanceof Element && node.matches(selector);

/** Keeps open forms, errors, and row state set by scripts. The form of a deleted task has no revision. */
const callbacks = {
  beforeNodeMorphed: (old: Node, fresh: Node) =>
    !is(old, '.write, .find, .editing:has([name=revision])') &&
    !(is(old, '#notice') && !fresh.textContent?.trim()),
  beforeNodeRemoved: (old: Node) => !is(old, '.write, .complaint'),
  beforeAttributeUpdated: (name: string) => name !== 'data-pending' && name !== 'open',
};

/** Rows in use stay where they are. */
const staying = ':is(.editing, [data-pending=finished], [data-pending=open])';

/** Last list received from the server, kept only while a row stays in place. */
let received: DocumentFragment | undefined;

/** Returns the parent element of the rows, and creates it if the list is empty. */
export function rowsOf(page: ParentNode) {
  const rows = page.querySelector('.tasks') ?? make('ul', { className: 'tasks', role: 'list' });
  if (!rows.parentElement) page.querySelector('#after')?.before(rows);
  return rows;
}

/** Keeps staying rows below the same row, and in the part of the list that their class names. Adds missing rows. */
function keepRows(page: Page) {
  const isFixed = (row: Element) =>
    page.getElementById(row.id)?.matches('.finished') === row.matches('.finished');
  for (const row of [...list().querySelectorAll(staying)].filter((row) => !isFixed(row))) {
    const kept = page.getElementById(row.id) ?? (row.cloneNode(true) as Element);
    const above = [...list().querySelectorAll(`li:has(~ #${row.id})`)].findLast(isFixed);
    above ? page.getElementById(above.id)?.after(kept) : rowsOf(page).prepend(kept);
    kept.classList.toggle('finished', row.matches('.finished'));
  }
}

/** The rows before each move of the last 0.3 s, the earliest first. A finger may still be on its way to them. */
const aims = new Set<ReturnType<typeof places>>();

// A click on a row that has just moved hits an element around it.
document.addEventListener('click', ({ target, detail, clientX: x, clientY: y }) => {
  if (detail > 1 || !is(target as Node, '.tasks, #list, main')) return;
  const hit = [...aims].flat().find(({ box }) => box.top <= y && y < box.bottom);
  const circle = hit && inPlace([hit])[0]?.part.querySelector<HTMLElement>('.toggle');
  if (circle && x < circle.getBoundingClientRect().right) circle.click();
});

/** Returns a function that scrolls by the least move of a visible row, guards what has moved, and tints others' changes. */
export function watchRows(own: boolean | 'named') {
  const before = places();
  return () => {
    const visible = inPlace(before).filter(({ box }) => box.top >= 0 && box.top < innerHeight);
    const moves = visible.map(({ part, box }) => ({ part, by: part.getBoundingClientRect().top - box.top }));
    const least = moves.toSorted((a, b) => Math.abs(a.by) - Math.abs(b.by))[0];
    const edited = moves.find(({ part }) => part.matches('.editing:focus-within'));
    scrollBy(0, (edited ?? (list().getBoundingClientRect().top < 0 ? least : undefined))?.by ?? 0);
    // The notice names the task that this user has just changed.
    const named = own === 'named' && document.querySelector('#notice bdi')?.textContent;
    for (const { part, box, finished } of places()) {
      const old = before.find((one) => one.part === part);
      if (!old || old.finished !== finished || Math.abs(box.top - old.box.top) >= 1) {
        aims.add(before);
        const guard = part.animate({ pointerEvents: ['none', 'none'] }, Infinity);
        const end = () => [guard.cancel(), aims.delete(before)];
        // The first frame may take long to show.
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(end, 300)));
      }
      const isOwn = own && (!named || named === part.querySelector('.title')?.textContent);
      if (isOwn && old) old.finished = finished; // This user may still aim at the row.
      if (!isOwn && part.matches('li') && (!old || (!old.finished && finished)))
        part.animate({ backgroundColor: ['var(--tint)', 'var(--tint)'] }, 2_000);
    }
  };
}

/** Updates the list or the whole page from `page`, after calling `first`. */
export function morph(part: '#list' | 'main', page: Page, first: (page: Page) => void = () => {}) {
  const refocus = keepFocus();
  const settle = watchRows(page === received || (part === 'main' && 'named'));
  first(page);
  received = document.querySelector(staying) ? new DocumentFragment() : undefined;
  received?.append((page.querySelector('#list') as Element).cloneNode(true));
  keepRows(page);
  morphElement(document.querySelector(part) as Element, page.querySelector(part), { callbacks });
  const tokens = (part: ParentNode) => part.querySelectorAll<HTMLInputElement>('[name=_csrf]');
  for (const field of tokens(document)) field.value = tokens(page)[0]?.value ?? field.value;
  refocus();
  settle();
  document.title = `${list().dataset.title}`;
  (document.querySelector('[rel=icon]') as HTMLLinkElement).href = `/icon?open=${list().dataset.open}`;
}

/** Moves rows to their place in the server's list. */
export const showReceived = () => received && morph('#list', received);
