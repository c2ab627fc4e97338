// @ts-check
import { change, renew } from './change.js';
import { endEdit } from './edit.js';
import { say } from './notice.js';
import { load } from './request.js';

/** How far the field of a form, from its beginning on, is under way. @type {WeakMap<HTMLFormElement, string>} */
const underWay = new WeakMap();

/**
 * Sends a form with a title: the one that adds a task, or one that edits a task in its place. What is typed
 * while it is under way, behind it or in its place, can be sent as well and waits its turn; the same text is
 * sent once, however often Enter is pressed. Nothing typed is lost, whatever comes back.
 *
 * @param {HTMLFormElement} form
 */
export function write(form) {
  const field = /** @type {HTMLInputElement} */ (form.elements.namedItem('title'));
  const task = form.closest('li');
  const before = underWay.get(form) ?? '';
  const more = without(before, field.value);
  if (before && !more.trim()) return;
  const typed = task ? field.value : more;
  underWay.set(form, field.value);

  change(
    form.action,
    () => {
      // What went before was refused, and all of the text is still in the field.
      if (!underWay.has(form)) return;
      // The other fields as the answer before left them: with a nonce that was not used yet.
      const data = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(form)));
      return { method: 'POST', body: new URLSearchParams({ ...data, title: typed }) };
    },
    async (page) => {
      explain(field, '');
      say(task ? 'Saved' : 'Added', typed.trim());
      // What was typed on since then stays.
      if (!task) {
        underWay.set(form, without(typed, underWay.get(form) ?? ''));
        field.value = without(typed, field.value);
        return renew(form, page, 'nonce');
      }
      if (field.value === typed) return endEdit(task);
      if (underWay.get(form) === typed) underWay.set(form, '');
      renew(form, (await load(`${form.action}/edit`)).page, 'revision');
    },
    ({ message, page }) => {
      underWay.delete(form);
      explain(field, field.value.startsWith(typed) ? message : `“${typed}” was not saved. ${message}`);
      if (page) renew(form, page, '_csrf', 'revision');
    },
    {},
  );
}

/**
 * What follows `start` in `text`, or all of it where it begins otherwise.
 *
 * @param {string} start
 * @param {string} text
 */
const without = (start, text) => (text.startsWith(start) ? text.slice(start.length) : text);

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
