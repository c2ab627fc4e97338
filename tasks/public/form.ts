import { change, enqueue, load, renew, report } from './change.ts';
import { drafts, storeDraft } from './drafts.ts';
import { addAgain, edit, endEdit } from './edit.ts';
import { say, takeNotice } from './notice.ts';
import { linesAdded } from './paste.ts';
import { listed, shownVersion } from './swap.ts';

/** What a form says, by the names of its fields. */
type Values = Record<string, string>;

/** What was sent to be added and is not answered, in order. */
let unanswered: Values[] = [];

/** What failed without a word on whether it was saved: what the form says, and the list that was shown. */
const unsettled = new Map<HTMLFormElement, { values: Values; version: string | undefined }>();

/** The fields that people fill in, and the revision that they saw. */
const fieldsOf = (form: HTMLFormElement) => [
  ...form.querySelectorAll<HTMLInputElement>('[name]:not([type=hidden]), [name=revision]'),
];

/** The field that has the focus first. */
const mainField = (form: HTMLFormElement) => form.querySelector('[autofocus]') as HTMLInputElement;

const valuesOf = (form: HTMLFormElement) =>
  Object.fromEntries(fieldsOf(form).map(({ name, value }) => [name, value]));

function fill(form: HTMLFormElement, values: Values) {
  for (const field of fieldsOf(form)) field.value = values[field.name] ?? field.value;
}

function lock(form: HTMLFormElement, readOnly: boolean) {
  for (const field of fieldsOf(form)) field.readOnly = readOnly;
}

/** Whether the form says this. */
const says = (form: HTMLFormElement, values: Values) =>
  fieldsOf(form).every(({ name, value }) => values[name] === value);

/** What the form says, behind the text of what is still being added. */
function unsaved(form: HTMLFormElement): Values {
  const { name } = mainField(form);
  const values = valuesOf(form);
  const texts = [...(isAdding(form) ? unanswered : []), values].map((each) => each[name]);
  return { ...values, [name]: texts.filter(Boolean).join(' ') };
}

/**
 * Fills in what was typed in this tab and not saved, with the revision that it changes: a change of somebody else since is
 * not overwritten unseen.
 */
export const restoreDraft = (form: HTMLFormElement) => fill(form, drafts()[placeOf(form)] ?? {});

export const keepDraft = (form: HTMLFormElement) => storeDraft(placeOf(form), unsaved(form));

export function editInPlace(task: Element) {
  const link = task.querySelector('.edit') as HTMLAnchorElement;
  enqueue(async () => {
    const form = await edit(task, link.href);
    if (form) restoreDraft(form);
  });
}

/** Where the form stands: the id of a task's row, or above the list. */
const placeOf = (form: HTMLFormElement) => form.closest('li')?.id ?? 'written';

/** Whether it edits a task. */
const isEdit = (form: HTMLFormElement) => form.querySelector('[name=revision]') !== null;

/** Whether it is the form above the list, for one task. */
const isAdding = (form: HTMLFormElement) => !form.matches('li form, .lines');

/**
 * Sends a form when its turn comes: one that adds tasks, or one that edits a task in its row.
 *
 * The field above the list is empty at once, and takes the next task. Its placeholder shows what is not saved yet; after
 * a failure all of that is in the field again, and nothing that waits is sent. Other forms are locked meanwhile.
 */
export function write(form: HTMLFormElement) {
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

  change(form.action, {
    key: {},
    request() {
      // One before this one failed.
      if (adding && !unanswered.includes(values)) return undefined;
      // The hidden fields as the last response left them, with a fresh nonce.
      const data = Object.fromEntries(new FormData(form)) as Values;
      return { method: 'POST', body: new URLSearchParams({ ...data, ...values }) };
    },
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
  });
}

/** Notes what is not answered, and shows it in the field. */
function setUnanswered(field: HTMLInputElement, left: Values[]) {
  unanswered = left;
  field.placeholder = left.map((values) => values[field.name]).join(', ');
}

/**
 * What failed may have been saved all the same. Once the list has changed since, sends it again: the nonce makes no
 * second task, and an edit that was made is not made again. What was edited meanwhile waits for Enter.
 *
 * @param version of the current list
 */
export function settle(version: string) {
  for (const [form, { values, version: before }] of unsettled) {
    if (!form.isConnected || !says(form, values)) unsettled.delete(form);
    else if (version !== before) write(form);
  }
}

/** Says at once where somebody deleted a task that is edited here. */
export async function checkEdits() {
  for (const form of document.querySelectorAll<HTMLFormElement>('.editing form')) {
    if (!isEdit(form) || listed(placeOf(form))) continue;
    await load(form.action).catch(({ status }) => {
      if (status === 404) explain(form, addAgain(form));
    });
  }
}

/** Shows what is wrong with a form next to its field; an empty `problem` removes that. */
export function explain(form: HTMLFormElement, problem: string) {
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
