import { keepFocus } from './focus.js';
import { localise } from './times.js';

declare const Idiomorph: typeof import('idiomorph').Idiomorph;

// If it did not load, this throws: then no script runs, and the page works without them.
const { morph: morphElement } = Idiomorph;

const list = () => document.getElementById('list') as HTMLElement;

/** The version of the list that is shown. */
export const shownVersion = () => list().dataset.version;

const is = (node: Node, selector: string) => node instanceof Element && node.matches(selector);

/** What somebody writes in stays as it is, and so does what scripts note about a row. */
const callbacks = {
  beforeNodeMorphed: (old: Node, fresh: Node) =>
    !is(old, '.write, .find, .editing') && !(is(old, '#notice') && !fresh.textContent?.trim()),
  beforeNodeRemoved: (old: Node) => !is(old, '.write'),
  beforeAttributeUpdated: (name: string) => name !== 'data-pending' && name !== 'open',
};

/** Gives `page` the rows that are edited and that it no longer has: above the row that they stood above. */
function keepEdited(page: Document) {
  for (const row of [...list().querySelectorAll('.editing')].reverse()) {
    if (page.getElementById(row.id)) continue;
    if (!page.querySelector('.tasks'))
      page.querySelector('.empty')?.replaceWith((row.parentElement as Element).cloneNode());
    const below = page.getElementById(row.nextElementSibling?.id ?? '');
    page.querySelector('.tasks')?.insertBefore(row.cloneNode(), below);
  }
}

/**
 * Makes the list, or all of the page, as it is on `page`. What did not change stays the same element.
 *
 * @param first what else changes now
 */
export function morph(part: '#list' | 'main', page: Document, first: (page: Document) => void = () => {}) {
  const refocus = keepFocus(part === 'main');
  localise(page);
  first(page);
  keepEdited(page);
  morphElement(document.querySelector(part) as Element, page.querySelector(part), { callbacks });
  const token = page.querySelector<HTMLInputElement>('[name=_csrf]')?.value;
  for (const field of document.querySelectorAll<HTMLInputElement>('[name=_csrf]'))
    field.value = token ?? field.value;
  refocus();
  const { title, open } = list().dataset;
  document.title = title ?? document.title;
  (document.querySelector('[rel=icon]') as HTMLLinkElement).href = `/icon?open=${open}`;
}
