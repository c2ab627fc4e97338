import { list, type Page } from './dom.js';
import { keepFocus } from './focus.js';

declare const Idiomorph: typeof import('idiomorph').Idiomorph;
// Throws if the library is missing, so that the page falls back to plain links and forms.
const { morph: morphElement } = Idiomorph;

/** The list, or the whole page with new tokens. */
export type Part = '#list' | 'main';

const is = (node: Node, selector: string) => node instanceof Element && node.matches(selector);

/** Keeps open forms, messages, and row state set by scripts. The form of a deleted task has no revision. */
const callbacks = {
  beforeNodeMorphed: (old: Node, fresh: Node) =>
    !is(old, '.write, .find, .editing:has([name=revision])') &&
    !(is(old, '#notice') && !fresh.textContent?.trim()),
  beforeNodeRemoved: (old: Node) => !is(old, '.write, .complaint, .changes'),
  beforeAttributeUpdated: (name: string) => !['data-pending', 'data-waits', 'open'].includes(name),
};

/** Makes a part of the document equal to the same part of `page`. */
export function morph(part: Part, page: Page) {
  const refocus = keepFocus();
  morphElement(document.querySelector(part) as Element, page.querySelector(part), { callbacks });
  const tokens = (part: ParentNode) => part.querySelectorAll<HTMLInputElement>('[name=_csrf]');
  for (const field of tokens(document)) field.value = tokens(page)[0]?.value ?? field.value;
  refocus();
  document.title = `${list().dataset.title}`;
  (document.querySelector('[rel=icon]') as HTMLLinkElement).href = `/icon?open=${list().dataset.open}`;
  dispatchEvent(new Event('listshown'));
}
