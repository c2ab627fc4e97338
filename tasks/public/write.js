// @ts-check
import { change, renew } from './change.js';
import { endEdit } from './edit.js';
import { say } from './notice.js';
import { load } from './request.js';

/**
 * What was sent of a form and is not answered, in turn. Where it `stands`, it is still in the field, behind
 * others that stand or from the beginning on.
 *
 * @typedef {{ typed: string, stands: boolean }} Sent
 * @type {WeakMap<HTMLFormElement, Sent[]>}
 */
const underWay = new WeakMap();

/** What an edit was saved as, until its new revision is known. @type {WeakMap<HTMLFormElement, string>} */
const saved = new WeakMap();

/**
 * Sends a form with a title: the one that adds a task, or one that edits a task in its place. Enter sends what
 * follows the beginning of the field that was sent and not touched since, which is all of it once that was
 * touched (and in an edit always), but not the same text twice running; a saved text leaves the field only
 * where it was not touched. What is sent waits its turn; after a failure nothing that waited is sent, and what
 * is no longer in the field is named.
 *
 * @param {HTMLFormElement} form
 */
export function write(form) {
  const field = /** @type {HTMLInputElement} */ (form.elements.namedItem('title'));
  const task = form.closest('li');
  const sent = underWay.get(form) ?? [];
  const last = sent.at(-1);
  if (last?.typed === field.value) {
    // Touched or not, it reads as it was sent.
    last.stands = !task;
    return;
  }
  const typed = field.value.slice(beginning(sent).length);
  if (last && !typed.trim()) return;
  const mine = { typed, stands: !task };
  sent.push(mine);
  underWay.set(form, sent);

  change(
    form.action,
    async () => {
      // What went before was refused.
      if (underWay.get(form) !== sent) return;
      await renewRevision(form);
      // The other fields as the answer before left them: with a nonce that was not used yet.
      const data = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(form)));
      return { method: 'POST', body: new URLSearchParams({ ...data, title: typed }) };
    },
    (page) => {
      sent.shift();
      if (sent.length === 0) underWay.delete(form);
      explain(field, '');
      say(task ? 'Saved' : 'Added', typed.trim());
      if (mine.stands) field.value = field.value.slice(typed.length);
      if (!task) renew(form, page, 'nonce');
      else if (field.value === typed && sent.length === 0) endEdit(task);
      else saved.set(form, typed);
    },
    ({ message, page }) => {
      underWay.delete(form);
      const lost = sent.filter((one) => !one.stands && one.typed !== field.value);
      explain(field, lost.map((one) => `“${one.typed}” was not saved. `).join('') + message);
      if (page) renew(form, page, '_csrf', 'revision');
    },
    {},
  );
}

/**
 * Takes note of what is about to be typed into `field`, or was: whether it touches what was sent.
 *
 * @param {HTMLInputElement} field
 */
export function touch(field) {
  const sent = (field.form && underWay.get(field.form)) ?? [];
  const start = beginning(sent);
  if (Number(field.selectionStart) >= start.length && field.value.startsWith(start)) return;
  for (const one of sent) one.stands = false;
}

/** How the field begins, as far as that was sent. @param {Sent[]} sent */
const beginning = (sent) => sent.map(({ typed, stands }) => (stands ? typed : '')).join('');

/**
 * Gives an edit that goes on after it was saved the revision that it has now. It is asked for before the next
 * attempt, so that a failure is one of that attempt.
 *
 * @param {HTMLFormElement} form
 */
async function renewRevision(form) {
  if (!saved.has(form)) return;
  const { page } = await load(`${form.action}/edit`);
  const title = /** @type {HTMLInputElement | null} */ (page.querySelector('[name=title]'))?.value;
  // With another title it is somebody else's revision; the server says so of the old one.
  if (title === saved.get(form)?.normalize('NFC').trim()) renew(form, page, 'revision');
  saved.delete(form);
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
