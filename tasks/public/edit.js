// @ts-check
import { load } from './change.js';

/** The rows of the tasks that are being edited, as they were. @type {WeakMap<Element, ChildNode[]>} */
const before = new WeakMap();

/**
 * Puts the form of the task's edit page in place of its row.
 *
 * @param {Element} task
 * @param {string} url
 */
export async function edit(task, url) {
  const { page } = await load(url);
  const form = page.querySelector('form.write');
  // The list may have changed since the click.
  const row = document.getElementById(task.id);
  if (!form || !row || before.has(row)) return;
  before.set(row, [...row.childNodes]);
  row.replaceChildren(form);
  row.classList.add('editing');
  const field = /** @type {HTMLInputElement} */ (row.querySelector('[autofocus]'));
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}

/**
 * Puts the row back; the next list updates it.
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
