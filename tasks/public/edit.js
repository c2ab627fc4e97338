// @ts-check
import { load } from './request.js';

/** What the place of an edited task held before. @type {WeakMap<Element, ChildNode[]>} */
const before = new WeakMap();

/**
 * Puts the form of the task's own edit page where the task is.
 *
 * @param {Element} task
 * @param {string} url
 */
export async function edit(task, url) {
  const { page } = await load(url);
  const form = page.querySelector('form.write');
  // The list may have changed under the click.
  const place = document.getElementById(task.id);
  if (!form || !place || before.has(place)) return;
  before.set(place, [...place.childNodes]);
  place.replaceChildren(form);
  place.classList.add('editing');
  const field = /** @type {HTMLInputElement} */ (place.querySelector('[name=title]'));
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}

/**
 * Gives the task its place back; the list says what it reads now.
 *
 * @param {Element} task
 */
export function endEdit(task) {
  task.replaceChildren(...(before.get(task) ?? []));
  before.delete(task);
  task.classList.remove('editing');
  if (!task.className) task.removeAttribute('class');
  /** @type {HTMLElement | null} */ (task.querySelector('.edit'))?.focus({ preventScroll: true });
}
