import { enqueue, formOf } from './change.js';
import { fieldOf, restoreDraft, single, storeDraft } from './drafts.js';
import { say } from './notice.js';

/** How many lines of `text` hold a task. */
export const countLines = (text: string) => text.split('\n').filter((line) => line.trim()).length;

const tasksIn = (text: string) => {
  const count = countLines(text);
  return `${count} ${count === 1 ? 'task' : 'tasks'}`;
};

/** The button of a form that adds tasks says how many. */
export function countTasks(form: HTMLFormElement) {
  const { value } = fieldOf(form);
  const several = form !== single || countLines(value) > 1;
  (form.querySelector('.main') as Element).textContent = several ? `Add ${tasksIn(value)}` : 'Add';
}

/** Puts a form for several tasks in the place of the single one. If there is one already, `text` joins its lines. */
export function offerLines(text: string): void {
  const form = document.querySelector<HTMLFormElement>('.lines') ?? formOf('lines');
  const area = fieldOf(form) as HTMLTextAreaElement;
  // What is sent stays as it is.
  if (area.readOnly) return void enqueue(() => offerLines(text));
  restoreDraft(form);
  area.value = [area.value.trimEnd(), text].filter(Boolean).join('\n');
  // A short list does not push its button off the screen of a phone.
  area.rows = Math.min(10, area.value.split('\n').length);
  countTasks(form);
  single.after(form);
  single.hidden = true;
  form.querySelector('button')?.focus();
  storeDraft(form, area.value);
}

/** Says that the lines were added, and leads to them if they are not shown here. */
export function linesAdded(form: HTMLFormElement, text: string) {
  const elsewhere = /filter=finished|after=|q=/.test(location.search);
  say(`Added ${tasksIn(text)}`, undefined, elsewhere ? { textContent: 'Show', href: '/' } : undefined);
  endLines(form);
}

/** Brings the form for one task back. */
export function endLines(form: HTMLFormElement) {
  storeDraft(form);
  form.remove();
  single.hidden = false;
  fieldOf(single).focus();
}
