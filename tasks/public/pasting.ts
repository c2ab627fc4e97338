import { change, enqueue } from './change.js';
import { drafts, dropDraft, restoreDraft, storeDraft } from './drafts.js';
import {
  countTasks,
  explain,
  fieldOf,
  formOf,
  isLocked,
  linesOf,
  refuse,
  setFormKey,
  single,
  tasksIn,
  withoutLines,
} from './form.js';
import { say } from './notice.js';
import { newKey, post } from './request.js';
import { forget, remember } from './unanswered.js';

/** Replaces the form above the list with a form for several tasks, or appends `text` to it. */
export function offerLines(text: string): void {
  const form = document.querySelector<HTMLFormElement>('.lines') ?? formOf('lines');
  const area = fieldOf(form);
  if (isLocked(form)) {
    enqueue(() => offerLines(text));
    return;
  }
  restoreDraft(form);
  area.value = [area.value.trimEnd(), text].filter(Boolean).join('\n');
  countTasks(form);
  single.after(form);
  single.hidden = true;
  if (!document.querySelector(':is(.lines, .editing) :focus')) form.querySelector('button')?.focus();
  storeDraft(form);
}

/** Adds the lines in one step. The form is locked until the response arrives. */
export function saveLines(form: HTMLFormElement) {
  const field = fieldOf(form);
  if (isLocked(form)) return;
  const lines = linesOf(field.value);
  const key = newKey();
  storeDraft(form);
  field.readOnly = true;
  forget();
  explain(form, '');
  change({
    request: () => ({ url: form.action, init: post(new FormData(form), key) }),
    saved() {
      sayAdded(lines);
      endLines(form);
    },
    failed(failure) {
      field.readOnly = false;
      // Pasted text starts a new line.
      if (failure.kind !== 'invalid') field.value = `${field.value.trimEnd()}\n`;
      refuse(form, failure);
      remember(failure, key, () => leaveForm(form, lines));
    },
  });
}

/** Takes added lines out of the form. */
function leaveForm(form: HTMLFormElement, lines: string[]) {
  if (!form.isConnected) return;
  sayAdded(lines);
  const left = withoutLines(fieldOf(form).value, lines).trimStart();
  if (left === '') return endLines(form);
  fieldOf(form).value = left;
  setFormKey(form);
  explain(form, '');
  countTasks(form);
  storeDraft(form);
}

/** Announces how many tasks were added, with a link if this page does not show them. */
function sayAdded(lines: string[]) {
  const isElsewhere = /filter=finished|after=|q=/.test(location.search);
  say(`Added ${tasksIn(lines)}`, undefined, isElsewhere ? { textContent: 'Show', href: '/' } : undefined);
}

/** Shows the form for one task again. */
export function endLines(form: HTMLFormElement) {
  dropDraft(form);
  form.remove();
  single.hidden = false;
  if (document.activeElement === document.body) fieldOf(single).focus();
}

export function restoreLines() {
  if (drafts().lines) offerLines('');
}
