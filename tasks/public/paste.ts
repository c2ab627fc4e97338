import { enqueue, formOf } from './change.js';
import { fieldOf, restoreDraft, single, storeDraft } from './drafts.js';
import { say } from './notice.js';

/** Returns the non-blank lines, with spaces for tabs. */
export const linesOf = (text: string) =>
  text.split('\n').flatMap((line) => (line.trim() ? line.replaceAll('\t', ' ') : []));

const tasksIn = ({ length }: string[]) => `${length} ${length === 1 ? 'task' : 'tasks'}`;

/** Shows the number of tasks on the form's button. */
export function countTasks(form: HTMLFormElement) {
  const lines = linesOf(fieldOf(form).value);
  const several = form !== single || lines.length > 1;
  (form.querySelector('.main') as Element).textContent = several ? `Add ${tasksIn(lines)}` : 'Add';
}

/** Replaces the single-task form with a form for several tasks, or appends `text` to it. */
export function offerLines(text: string): void {
  const form = document.querySelector<HTMLFormElement>('.lines') ?? formOf('lines');
  const area = fieldOf(form);
  // Queue the text while the form is being sent.
  if (area.readOnly) return void enqueue(() => offerLines(text));
  restoreDraft(form);
  area.value = [area.value.trimEnd(), text].filter(Boolean).join('\n');
  countTasks(form);
  single.after(form);
  single.hidden = true;
  form.querySelector('button')?.focus();
  storeDraft(form, area.value);
}

/** Announces how many tasks were added, with a link if this page does not show them. */
export function linesAdded(form: HTMLFormElement, lines: string[]) {
  const elsewhere = /filter=finished|after=|q=/.test(location.search);
  say(`Added ${tasksIn(lines)}`, undefined, elsewhere ? { textContent: 'Show', href: '/' } : undefined);
  endLines(form);
}

/** Shows the single-task form again. */
export function endLines(form: HTMLFormElement) {
  storeDraft(form);
  form.remove();
  single.hidden = false;
  fieldOf(single).focus();
}
