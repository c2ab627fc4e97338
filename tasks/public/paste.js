import { load } from './change.js';
import { offer, say } from './notice.js';

/** How many lines of `text` hold a task. @param {string} text */
export const countLines = (text) => text.split('\n').filter((line) => line.trim()).length;

/** @param {string} text */
const tasksIn = (text) => {
  const count = countLines(text);
  return `${count} ${count === 1 ? 'task' : 'tasks'}`;
};

/**
 * Puts the form of the import page in the place of the one that adds one task.
 *
 * @param {HTMLFormElement} single
 * @param {string} text
 */
export async function offerLines(single, text) {
  const { page } = await load('/tasks/import');
  const form = /** @type {HTMLFormElement} */ (page.querySelector('form.write'));
  const area = /** @type {HTMLTextAreaElement} */ (form.querySelector('textarea'));
  const add = /** @type {HTMLElement} */ (form.querySelector('button'));
  const count = () => {
    add.textContent = `Add ${tasksIn(area.value)}`;
  };
  form.action = '/task';
  form.classList.add('lines');
  area.value = text;
  // A short list does not push its button off the screen of a phone.
  area.rows = Math.min(area.rows, text.split('\n').length);
  area.oninput = count;
  count();
  single.after(form);
  single.hidden = true;
  add.focus();
}

/**
 * Says that the lines were added, and leads to them if they are not shown here.
 *
 * @param {Element} form
 * @param {string} text
 */
export function linesAdded(form, text) {
  const shown = new URLSearchParams(location.search);
  say(`Added ${tasksIn(text)}`);
  if (shown.get('filter') === 'finished' || shown.has('after')) offer('Show', '/');
  endLines(form);
}

/** Brings the form for one task back. @param {Element} form the one for several */
export function endLines(form) {
  const single = /** @type {HTMLFormElement} */ (form.previousElementSibling);
  form.remove();
  single.hidden = false;
  /** @type {HTMLElement} */ (single.querySelector('[autofocus]')).focus();
}
