// @ts-check
import { change, renew } from './change.js';
import { endEdit } from './edit.js';
import { say } from './notice.js';

/**
 * Sends a form with a title: the one that adds a task, or one that edits a task in its place. Nothing
 * typed is lost, whatever comes back.
 *
 * @param {HTMLFormElement} form
 * @param {RequestInit} init
 */
export function write(form, init) {
  const field = /** @type {HTMLInputElement} */ (form.elements.namedItem('title'));
  const typed = field.value;
  const task = form.closest('li');

  change(
    form.action,
    init,
    (page) => {
      explain(field, '');
      say(task ? 'Saved' : 'Added', typed.trim());
      if (task) return endEdit(task);
      // What was typed on since then stays.
      if (field.value.startsWith(typed)) field.value = field.value.slice(typed.length);
      renew(form, page, 'nonce');
    },
    ({ message, page }) => {
      explain(field, message);
      if (page) renew(form, page, '_csrf', 'revision');
    },
  );
}

/**
 * Says beside `field` what is wrong with it; an empty `problem` takes that away.
 *
 * @param {HTMLInputElement} field
 * @param {string} problem
 */
export function explain(field, problem) {
  field.form?.querySelector('.problem')?.remove();
  field.removeAttribute('aria-invalid');
  field.removeAttribute('aria-describedby');
  if (!problem) return;
  const words = document.createElement('p');
  words.id = `${field.id}-problem`;
  words.className = 'problem';
  words.role = 'alert';
  words.textContent = problem;
  field.form?.append(words);
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-describedby', words.id);
  field.focus();
}
