import { localise } from './times.ts';

export const list = document.getElementById('list') as HTMLElement;

/** The list as the server sent it last. */
let confirmed = list.cloneNode(true) as HTMLElement;

/** Does to a copy of the list what the server will. */
export type Act = (list: HTMLElement) => void;

/** What people did and the server has not confirmed, by its key. */
export const ahead = new Map<unknown, Act>();

/** Whether the server listed the task of this row. */
export const listed = (id: string) => Boolean(confirmed.querySelector(`#${id}`));

const icon = document.querySelector('[rel=icon]') as HTMLLinkElement;

/** The version of the list that is shown. */
export const shownVersion = () => list.dataset.version;

/** Shows the list of `page`. */
export function swap(page: Document) {
  localise(page);
  confirmed = page.getElementById('list') as HTMLElement;
  document.title = confirmed.dataset.title ?? document.title;
  icon.href = `/icon?open=${confirmed.dataset.open}`;
  show();
}

/**
 * Shows the list with what is ahead of it. What did not change stays the same element, so nothing blinks, scrolls or
 * loses the focus; a task that is being edited is left alone.
 */
export function show() {
  const fresh = confirmed.cloneNode(true) as HTMLElement;
  for (const act of ahead.values()) act(fresh);
  const refocus = rememberFocus();
  for (const edited of list.querySelectorAll('.tasks > .editing')) keep(edited, fresh);
  reconcile(list, fresh);
  Object.assign(list.dataset, fresh.dataset);
  refocus();
}

/**
 * Puts the task that is being edited into `fresh` where it is now, after the nearest task before it that stays, even if
 * it is gone or has moved. So its field is never removed and inserted again.
 */
function keep(edited: Element, fresh: Element) {
  let tasks = fresh.querySelector('.tasks');
  if (!tasks) {
    tasks = edited.parentElement?.cloneNode() as Element;
    fresh.querySelector('.empty')?.replaceWith(tasks);
  }
  const place = fresh.querySelector(`#${edited.id}`) ?? edited.cloneNode();
  for (let task = edited.previousElementSibling; task; task = task.previousElementSibling) {
    const same = fresh.querySelector(`#${task.id}`);
    if (same && (task.matches('.editing') || task.isEqualNode(same))) return same.after(place);
  }
  tasks.prepend(place);
}

/** Gives `shown` the children of `fresh`, matched by id or class. */
function reconcile(shown: Element, fresh: Element) {
  const key = (element: Element) => element.id || element.className;
  const known = new Map([...shown.children].map((child) => [key(child), child]));
  const next = [...fresh.children].map((child) => {
    const old = known.get(key(child));
    if (old?.matches('.editing') || old?.isEqualNode(child)) return old;
    if (!old?.matches('.tasks')) return child;
    reconcile(old, child);
    return old;
  });
  const kept = new Set(next);
  for (const child of [...shown.children]) if (!kept.has(child)) child.remove();
  for (const [i, child] of next.entries()) {
    if (shown.children[i] === child) continue;
    shown.insertBefore(child, shown.children[i] ?? null);
    // What was shown ahead has arrived already.
    if (child.matches('li') && !known.get(key(child))?.matches('[data-ahead]')) arrive(child);
  }
}

const still = matchMedia('(prefers-reduced-motion: reduce)');

function arrive(task: Element) {
  if (!still.matches) task.animate([{ backgroundColor: 'var(--tint)' }, {}], 900);
}

/** Where a link or a button leads. */
const address = (control: Element) => control.getAttribute('href') ?? control.getAttribute('formaction');

/**
 * Returns a function that restores the focus if the link or button that has it was replaced; if that is gone, it
 * focuses the task that took its place, or the field.
 */
function rememberFocus() {
  const focused = list.querySelector(':focus');
  if (!focused) return () => {};
  const rows = () => [...list.querySelectorAll('.tasks > li')];
  const place = rows().findIndex((row) => row.contains(focused));
  return () => {
    if (document.activeElement === focused) return;
    const same = [...list.querySelectorAll('a, button')].find((each) => address(each) === address(focused));
    const next = same ?? rows()[Math.max(0, place)] ?? rows().at(-1) ?? document.getElementById('title');
    (next as HTMLElement | null)?.focus({ preventScroll: true });
  };
}
