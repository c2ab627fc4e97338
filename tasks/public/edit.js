import { load } from './change.js';
import { storeDraft } from './drafts.js';
import { show } from './swap.js';

/**
 * Puts the form of the task's edit page in place of its row.
 *
 * @param {Element} task
 * @param {string} url
 * @returns {Promise<HTMLFormElement | undefined>} the form; undefined if the task is gone or edited already
 */
export async function edit(task, url) {
  const { page } = await load(url);
  const form = /** @type {HTMLFormElement | null} */ (page.querySelector('form.write'));
  // The list may have changed since the click.
  const row = document.getElementById(task.id);
  if (!form || !row || row.matches('.editing')) return undefined;
  // The rows below stay where they are.
  row.style.minBlockSize = `${row.getBoundingClientRect().height}px`;
  row.replaceChildren(form);
  row.classList.add('editing');
  const field = /** @type {HTMLInputElement} */ (row.querySelector('[autofocus]'));
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  return form;
}

/**
 * Makes the edit of a task that somebody deleted add it again.
 *
 * @param {HTMLFormElement} form
 * @returns what to say
 */
export function addAgain(form) {
  const { _method, revision } = /** @type {any} */ (form.elements);
  _method.remove();
  // However often it is sent, one task is added.
  revision.name = 'nonce';
  revision.value += form.action;
  form.action = '/task';
  /** @type {Element} */ (form.querySelector('.main')).textContent = 'Add again';
  return 'Somebody deleted this task. What you typed is still here.';
}

/**
 * Shows the row as the list has it.
 *
 * @param {Element} task
 */
export function endEdit(task) {
  storeDraft(task.id);
  task.classList.remove('editing');
  // It is no news.
  task.setAttribute('data-ahead', '');
  show();
  /** @type {HTMLElement | null} */
  const link = document.querySelector(`#${task.id} .edit`);
  link?.focus({ preventScroll: true });
}
