import { change, load, renew, report } from './change.js';
import { drafts, storeDraft } from './drafts.js';
import { addAgain, endEdit } from './edit.js';
import { say, takeNotice } from './notice.js';
import { linesAdded } from './paste.js';
import { listed, shownVersion } from './swap.js';

/** @typedef {Record<string, string>} Values what a form says, by the names of its fields */

/** What was sent to be added and is not answered, in order. @type {Values[]} */
let unanswered = [];

/**
 * What failed without a word on whether it was saved: what the form says, and the list that was shown.
 *
 * @type {Map<HTMLFormElement, { values: Values, version: string | undefined }>}
 */
const unsettled = new Map();

/** The fields that people fill in, and the revision that they saw. @param {HTMLFormElement} form */
function fieldsOf(form) {
  /** @type {NodeListOf<HTMLInputElement>} */
  const fields = form.querySelectorAll('[name]:not([type=hidden]), [name=revision]');
  return [...fields];
}

/** The field that has the focus first. @param {HTMLFormElement} form */
const mainField = (form) => /** @type {HTMLInputElement} */ (form.querySelector('[autofocus]'));

/** @param {HTMLFormElement} form */
const valuesOf = (form) => Object.fromEntries(fieldsOf(form).map(({ name, value }) => [name, value]));

/** @param {HTMLFormElement} form @param {Values} values */
function fill(form, values) {
  for (const field of fieldsOf(form)) field.value = values[field.name] ?? field.value;
}

/** @param {HTMLFormElement} form @param {boolean} readOnly */
function lock(form, readOnly) {
  for (const field of fieldsOf(form)) field.readOnly = readOnly;
}

/** Whether the form says this. @param {HTMLFormElement} form @param {Values} values */
const says = (form, values) => fieldsOf(form).every(({ name, value }) => values[name] === value);

/** What the form says, behind the text of what is still being added. @param {HTMLFormElement} form @returns {Values} */
function unsaved(form) {
  const { name } = mainField(form);
  const values = valuesOf(form);
  const texts = [...(isAdding(form) ? unanswered : []), values].map((each) => each[name]);
  return { ...values, [name]: texts.filter(Boolean).join(' ') };
}

/**
 * Fills in what was typed in this tab and not saved, with the revision that it changes: a change of somebody else since is
 * not overwritten unseen.
 *
 * @param {HTMLFormElement} form
 */
export const restoreDraft = (form) => fill(form, drafts()[placeOf(form)] ?? {});

/** @param {HTMLFormElement} form */
export const keepDraft = (form) => storeDraft(placeOf(form), unsaved(form));

/** Where the form stands: the id of a task's row, or above the list. @param {HTMLFormElement} form */
const placeOf = (form) => form.closest('li')?.id ?? 'written';

/** Whether it edits a task. @param {HTMLFormElement} form */
const isEdit = (form) => form.querySelector('[name=revision]') !== null;

/** Whether it is the form above the list, for one task. @param {HTMLFormElement} form */
const isAdding = (form) => !form.matches('li form, .lines');

/**
 * Sends a form when its turn comes: one that adds tasks, or one that edits a task in its row.
 *
 * The field above the list is empty at once, and takes the next task. Its placeholder shows what is not saved yet; after
 * a failure all of that is in the field again, and nothing that waits is sent. Other forms are locked meanwhile.
 *
 * @param {HTMLFormElement} form
 */
export function write(form) {
  const field = mainField(form);
  if (field.readOnly) return;
  const task = form.closest('li');
  const adding = isAdding(form);
  const values = valuesOf(form);
  const text = field.value;
  unsettled.delete(form);
  explain(form, '');
  if (adding) {
    form.reset();
    setUnanswered(field, [...unanswered, values]);
  } else lock(form, true);

  change(
    form.action,
    () => {
      // One before this one failed.
      if (adding && !unanswered.includes(values)) return undefined;
      // The hidden fields as the last response left them, with a fresh nonce.
      const data = /** @type {Values} */ (Object.fromEntries(new FormData(form)));
      return { method: 'POST', body: new URLSearchParams({ ...data, ...values }) };
    },
    {
      done(page) {
        if (form.matches('.lines')) return linesAdded(form, text);
        if (task || !takeNotice(page)) say(isEdit(form) ? 'Saved' : 'Added', text.trim());
        if (task) return endEdit(task);
        setUnanswered(field, unanswered.slice(1));
        keepDraft(form);
        renew(form, page, 'nonce');
      },
      failed(failure) {
        const { message, page, refused } = failure;
        if (adding) {
          fill(form, unsaved(form));
          setUnanswered(field, []);
        }
        if (!refused && says(form, values)) unsettled.set(form, { values, version: shownVersion() });
        explain(form, failure.status === 404 && isEdit(form) ? addAgain(form) : message);
        if (page) renew(form, page, '_csrf', 'revision');
        if (failure.status === 401) report(failure);
      },
      key: {},
    },
  );
}

/** Notes what is not answered. @param {HTMLInputElement} field above the list, which shows it @param {Values[]} left */
function setUnanswered(field, left) {
  unanswered = left;
  field.placeholder = left.map((values) => values[field.name]).join(', ');
}

/**
 * What failed may have been saved all the same. Once the list has changed since, sends it again: the nonce makes no
 * second task, and an edit that was made is not made again. What was edited meanwhile waits for Enter.
 *
 * @param {string} version of the current list
 */
export function settle(version) {
  for (const [form, { values, version: before }] of unsettled) {
    if (!form.isConnected || !says(form, values)) unsettled.delete(form);
    else if (version !== before) write(form);
  }
}

/** Says at once where somebody deleted a task that is edited here. */
export async function checkEdits() {
  /** @type {NodeListOf<HTMLFormElement>} */
  const forms = document.querySelectorAll('.editing form');
  for (const form of forms) {
    if (!isEdit(form) || listed(placeOf(form))) continue;
    await load(form.action).catch(({ status }) => {
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
  const field = mainField(form);
  form.querySelector('.problem')?.remove();
  lock(form, false);
  field.removeAttribute('aria-invalid');
  field.removeAttribute('aria-describedby');
  if (!problem) return;
  const id = `${field.id}-problem`;
  const words = { id, className: 'problem', role: 'alert', textContent: problem };
  form.append(Object.assign(document.createElement('p'), words));
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-describedby', id);
  // Somebody may be typing in another field.
  if (!(document.activeElement instanceof HTMLInputElement)) field.focus();
}
