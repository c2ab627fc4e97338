import { enqueue, formOf } from './change.js';
import { restoreDraft, storeDraft } from './drafts.js';
import { say } from './notice.js';

/** How many lines of `text` hold a task. */
export const countLines = (text: string) => text.split('\n').filter((line) => line.trim()).length;

export const tasksIn = (text: string) => {
  const count = countLines(text);
  return `${count} ${count === 1 ? 'task' : 'tasks'}`;
};

const areaOf = (form: HTMLFormElement) => form.querySelector('textarea') as HTMLTextAreaElement;

/** Puts a form for several tasks in the place of `single`. If there is one already, `text` joins what it has. */
export function offerLines(single: HTMLFormElement, text: string): void {
  const form = document.querySelector<HTMLFormElement>('.lines') ?? linesForm(single);
  const area = areaOf(form);
  // What is sent stays as it is.
  if (area.readOnly) return void enqueue(() => offerLines(single, text));
  area.value = [area.value.trimEnd(), text].filter(Boolean).join('\n');
  // A short list does not push its button off the screen of a phone.
  area.rows = Math.min(10, area.value.split('\n').length);
  countTasks(form);
  storeDraft(form, area.value);
  form.querySelector('button')?.focus();
}

function linesForm(single: HTMLFormElement) {
  const form = formOf('lines');
  areaOf(form).oninput = () => countTasks(form);
  restoreDraft(form);
  single.after(form);
  single.hidden = true;
  return form;
}

function countTasks(form: HTMLFormElement) {
  (form.querySelector('button') as HTMLElement).textContent = `Add ${tasksIn(areaOf(form).value)}`;
}

/** Says that the lines were added, and leads to them if they are not shown here. */
export function linesAdded(several: HTMLFormElement, text: string) {
  const part = new URLSearchParams(location.search);
  const elsewhere = part.get('filter') === 'finished' || part.has('after');
  say(`Added ${tasksIn(text)}`, undefined, elsewhere ? { textContent: 'Show', href: '/' } : undefined);
  endLines(several);
}

/** Brings the form for one task back in the place of that for several. */
export function endLines(several: HTMLFormElement) {
  storeDraft(several);
  const single = several.previousElementSibling as HTMLFormElement;
  several.remove();
  single.hidden = false;
  (single.querySelector('[autofocus]') as HTMLElement).focus();
}
