// @ts-check
import { change, LoggedOut, load, renew, report } from './change.js';
import { drafts, storeDraft } from './drafts.js';
import { addAgain, endEdit } from './edit.js';
import { say, takeNotice } from './notice.js';
import { linesAdded } from './paste.js';
import { listed, shownVersion } from './swap.js';

/**
 * Forms that were sent and not answered, in order: what each said, by the names of its fields. `text` was typed in the
 * field that people type on in. While one is `inField`, that field still begins with it, behind those before it.
 *
 * @typedef {{ values: Record<string, string>, text: string, inField: boolean }} Pending
 * @type {WeakMap<HTMLFormElement, Pending[]>}
 */
const pendingOf = new WeakMap();

/**
 * What failed without a word on whether it was saved: what the form said then, and the list that was shown.
 *
 * @type {Map<HTMLFormElement, { sent: Pending, shown: Record<string, string>, version: string | undefined }>}
 */
const unsettled = new Map();

/** What an edit was saved as, until its new revision is known. @type {WeakMap<HTMLFormElement, Record<string, string>>} */
const saved = new WeakMap();

/** The fields that people fill in. @param {HTMLFormElement} form */
const fieldsOf = (form) =>
  /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll('[name]:not([type=hidden])')]);

/** The field that people type on in while the form is sent. @param {HTMLFormElement} form */
const typedIn = (form) => /** @type {HTMLInputElement} */ (form.querySelector('[autofocus]'));

/** @param {HTMLFormElement} form */
const valuesOf = (form) => Object.fromEntries(fieldsOf(form).map(({ name, value }) => [name, value]));

/** @param {Record<string, string>} a @param {Record<string, string>} b */
const same = (a, b) => Object.entries(a).every(([name, value]) => b[name] === value);

/** Fills in what was typed in this tab and not saved. @param {HTMLFormElement} form */
export function restoreDraft(form) {
  const kept = drafts()[placeOf(form)] ?? {};
  for (const field of fieldsOf(form)) field.value = kept[field.name] ?? field.value;
  // A change of somebody else since is not overwritten unseen.
  const revision = revisionOf(form);
  if (revision) revision.value = kept.revision ?? revision.value;
}

/** @param {HTMLFormElement} form */
export function keepDraft(form) {
  storeDraft(placeOf(form), { ...valuesOf(form), revision: revisionOf(form)?.value });
}

/** Where the form stands: the id of a task's row, or above the list. @param {HTMLFormElement} form */
const placeOf = (form) => form.closest('li')?.id ?? 'written';

/** @param {HTMLFormElement} form @returns {HTMLInputElement | null} */
const revisionOf = (form) => form.querySelector('[name=revision]');

/**
 * Sends a form: the one that adds a task, or one that edits a task in its row.
 *
 * People keep typing while it is sent. Enter sends what follows the beginning of the field that was sent and not
 * edited since; once that was edited (and in an edit form always) it sends the whole field, but never the same form
 * twice in a row. What is saved leaves the form only if nobody edited it. After a failure nothing that waits is sent,
 * and the message names what is no longer in the field.
 *
 * @param {HTMLFormElement} form
 */
export function write(form) {
  const field = typedIn(form);
  const task = form.closest('li');
  const pending = pendingOf.get(form) ?? [];
  const last = pending.at(-1);
  const values = valuesOf(form);
  if (last && same(last.values, values)) {
    // Edited or not, it reads as it was sent.
    last.inField = !task;
    return;
  }
  const text = field.value.slice(sentPrefix(pending).length);
  if (last && !task && !text.trim()) return;
  const own = { values: { ...values, [field.name]: text }, text, inField: !task };
  pending.push(own);
  send(form, own, pending);
}

/**
 * Sends a form when its turn comes.
 *
 * @param {HTMLFormElement} form
 * @param {Pending} own
 * @param {Pending[]} pending what is under way from this form, `own` among it
 */
function send(form, own, pending) {
  const field = typedIn(form);
  const task = form.closest('li');
  const { text, values } = own;
  pendingOf.set(form, pending);
  unsettled.delete(form);

  change(
    form.action,
    async () => {
      // One before this one failed.
      if (pendingOf.get(form) !== pending) return;
      await renewRevision(form);
      // The hidden fields as the last response left them, with a fresh nonce.
      const data = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(form)));
      return { method: 'POST', body: new URLSearchParams({ ...data, ...values }) };
    },
    {
      done(page) {
        pending.shift();
        if (pending.length === 0) pendingOf.delete(form);
        explain(form, '');
        if (form.matches('.lines')) return linesAdded(form, text);
        if (task || !takeNotice(page)) say(revisionOf(form) ? 'Saved' : 'Added', text.trim());
        if (own.inField) field.value = field.value.slice(text.length);
        if (!task) {
          for (const other of fieldsOf(form)) {
            if (other !== field && other.value === values[other.name]) other.value = other.defaultValue;
          }
          keepDraft(form);
          renew(form, page, 'nonce');
        } else if (same(values, valuesOf(form)) && pending.length === 0) endEdit(task);
        else saved.set(form, values);
      },
      failed(failure) {
        const { message, page, refused } = failure;
        pendingOf.delete(form);
        const lost = pending.filter((one) => !one.inField && one.text !== field.value);
        if (!refused && lost.length === 0) {
          unsettled.set(form, { sent: own, shown: valuesOf(form), version: shownVersion() });
        }
        const why = failure.status === 404 && revisionOf(form) ? addAgain(form) : message;
        explain(form, lost.map((one) => `“${one.text}” was not saved. `).join('') + why);
        if (page) renew(form, page, '_csrf', 'revision');
        if (failure instanceof LoggedOut) report(failure);
      },
      key: {},
    },
  );
}

/**
 * What failed may have been saved all the same. Once the list has changed since, sends it again as it was: the nonce
 * makes no second task, and an edit that was made is not made again. What was edited meanwhile waits for Enter.
 *
 * @param {string} version of the current list
 */
export function settle(version) {
  for (const [form, { sent, shown, version: before }] of unsettled) {
    if (!form.isConnected || !same(shown, valuesOf(form))) unsettled.delete(form);
    else if (version !== before) send(form, sent, [sent]);
  }
}

/**
 * Notes whether an edit of `field`, before or after it happens, changes what was sent.
 *
 * @param {HTMLInputElement} field
 */
export function noteEdit(field) {
  if (!field.form || field !== typedIn(field.form)) return;
  const pending = pendingOf.get(field.form) ?? [];
  const prefix = sentPrefix(pending);
  if (Number(field.selectionStart) >= prefix.length && field.value.startsWith(prefix)) return;
  for (const one of pending) one.inField = false;
}

/** The beginning of the field, as far as it was sent. @param {Pending[]} pending */
const sentPrefix = (pending) => pending.map(({ text, inField }) => (inField ? text : '')).join('');

/**
 * Gives an edit that continues after it was saved its new revision. This happens before the next attempt, so that a
 * failure counts as a failure of that attempt.
 *
 * @param {HTMLFormElement} form
 */
async function renewRevision(form) {
  const last = saved.get(form);
  if (!last) return;
  const { page } = await load(editPage(form));
  const now = page.querySelector('form.write');
  const stored = Object.fromEntries(
    Object.entries(last).map(([name, value]) => [name, value.normalize('NFC').trim()]),
  );
  // What reads otherwise is somebody else's revision, and the server rejects the old one.
  if (now && same(stored, valuesOf(/** @type {HTMLFormElement} */ (now)))) renew(form, page, 'revision');
  saved.delete(form);
}

/** @param {HTMLFormElement} form */
function editPage({ action }) {
  const url = new URL(action);
  url.pathname += '/edit';
  return url.href;
}

/** Says at once where somebody deleted a task that is edited here. */
export async function checkEdits() {
  /** @type {NodeListOf<HTMLFormElement>} */
  const forms = document.querySelectorAll('.editing form');
  for (const form of forms) {
    if (!revisionOf(form) || listed(placeOf(form))) continue;
    await load(editPage(form)).catch(({ status }) => {
      if (status === 404) explain(form, addAgain(form));
    });
  }
}

/**
 * Shows what is wrong with a form next to its field; an empty `problem` removes that.
 *
 * @param {HTMLFormElement} form
 * @param {string} problem
 */
export function explain(form, problem) {
  const field = typedIn(form);
  form.querySelector('.problem')?.remove();
  field.readOnly = false;
  field.removeAttribute('aria-invalid');
  field.removeAttribute('aria-describedby');
  if (!problem) return;
  const words = document.createElement('p');
  words.id = `${field.id}-problem`;
  words.className = 'problem';
  words.role = 'alert';
  words.textContent = problem;
  form.append(words);
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-describedby', words.id);
  // Somebody may be typing in another field.
  if (!(document.activeElement instanceof HTMLInputElement)) field.focus();
}
