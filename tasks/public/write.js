// @ts-check
import { change, renew } from './change.js';
import { keepDraft } from './draft.js';
import { endEdit } from './edit.js';
import { say } from './notice.js';
import { load } from './request.js';
import { shownVersion } from './swap.js';

/**
 * The titles of a form that were sent and not answered, in order. While one is `inField`, the field still begins with
 * it, behind those before it.
 *
 * @typedef {{ title: string, inField: boolean }} Pending
 * @type {WeakMap<HTMLFormElement, Pending[]>}
 */
const pendingTitles = new WeakMap();

/**
 * Titles that failed without a word on whether they were saved: what the field said then, and the list that was shown.
 *
 * @type {Map<HTMLFormElement, { title: Pending, text: string, version: string | undefined }>}
 */
const unsettled = new Map();

/** What an edit was saved as, until its new revision is known. @type {WeakMap<HTMLFormElement, string>} */
const saved = new WeakMap();

/**
 * Sends a form with a title: the one that adds a task, or one that edits a task in its row.
 *
 * People keep typing while a title is sent. Enter sends what follows the beginning of the field that was sent and not
 * edited since; once that was edited (and in an edit form always) it sends the whole field, but never the same text
 * twice in a row. A saved title leaves the field only if nobody edited it. After a failure nothing that waits is sent,
 * and the message names what is no longer in the field.
 *
 * @param {HTMLFormElement} form
 */
export function write(form) {
  const field = /** @type {HTMLInputElement} */ (form.elements.namedItem('title'));
  const task = form.closest('li');
  const pending = pendingTitles.get(form) ?? [];
  const last = pending.at(-1);
  if (last?.title === field.value) {
    // Edited or not, it reads as it was sent.
    last.inField = !task;
    return;
  }
  const title = field.value.slice(sentPrefix(pending).length);
  if (last && !title.trim()) return;
  const own = { title, inField: !task };
  pending.push(own);
  send(form, own, pending);
}

/**
 * Sends a title when its turn comes.
 *
 * @param {HTMLFormElement} form
 * @param {Pending} own
 * @param {Pending[]} pending the titles of the form that are under way, this one among them
 */
function send(form, own, pending) {
  const field = /** @type {HTMLInputElement} */ (form.elements.namedItem('title'));
  const task = form.closest('li');
  const { title } = own;
  pendingTitles.set(form, pending);
  unsettled.delete(form);

  change(
    form.action,
    async () => {
      // A title before this one failed.
      if (pendingTitles.get(form) !== pending) return;
      await renewRevision(form);
      // The hidden fields as the last response left them, with a fresh nonce.
      const data = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(form)));
      return { method: 'POST', body: new URLSearchParams({ ...data, title }) };
    },
    (page) => {
      pending.shift();
      if (pending.length === 0) pendingTitles.delete(form);
      explain(field, '');
      say(task ? 'Saved' : 'Added', title.trim());
      if (own.inField) field.value = field.value.slice(title.length);
      if (!task) {
        keepDraft(field.value);
        renew(form, page, 'nonce');
      } else if (field.value === title && pending.length === 0) endEdit(task);
      else saved.set(form, title);
    },
    ({ message, page, refused }) => {
      pendingTitles.delete(form);
      const lost = pending.filter((one) => !one.inField && one.title !== field.value);
      if (!refused && lost.length === 0) {
        unsettled.set(form, { title: own, text: field.value, version: shownVersion() });
      }
      explain(field, lost.map((one) => `“${one.title}” was not saved. `).join('') + message);
      if (page) renew(form, page, '_csrf', 'revision');
    },
    {},
  );
}

/**
 * A title that failed may have been saved all the same. Once the list has changed since, sends it again as it was: the
 * nonce makes no second task, and an edit that was made is not made again. What was edited meanwhile waits for Enter.
 *
 * @param {string} version of the current list
 */
export function settle(version) {
  for (const [form, { title, text, version: shown }] of unsettled) {
    const field = /** @type {HTMLInputElement} */ (form.elements.namedItem('title'));
    if (!form.isConnected || field.value !== text) unsettled.delete(form);
    else if (version !== shown) send(form, title, [title]);
  }
}

/**
 * Notes whether an edit of `field`, before or after it happens, changes what was sent.
 *
 * @param {HTMLInputElement} field
 */
export function noteEdit(field) {
  const pending = (field.form && pendingTitles.get(field.form)) ?? [];
  const prefix = sentPrefix(pending);
  if (Number(field.selectionStart) >= prefix.length && field.value.startsWith(prefix)) return;
  for (const one of pending) one.inField = false;
}

/** The beginning of the field, as far as it was sent. @param {Pending[]} pending */
const sentPrefix = (pending) => pending.map(({ title, inField }) => (inField ? title : '')).join('');

/**
 * Gives an edit that continues after it was saved its new revision. This happens before the next attempt, so that a
 * failure counts as a failure of that attempt.
 *
 * @param {HTMLFormElement} form
 */
async function renewRevision(form) {
  if (!saved.has(form)) return;
  const { page } = await load(`${form.action}/edit`);
  const title = /** @type {HTMLInputElement | null} */ (page.querySelector('[name=title]'))?.value;
  // With another title it is somebody else's revision, and the server rejects the old one.
  if (title === saved.get(form)?.normalize('NFC').trim()) renew(form, page, 'revision');
  saved.delete(form);
}

/**
 * Shows what is wrong next to `field`; an empty `problem` removes that.
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
