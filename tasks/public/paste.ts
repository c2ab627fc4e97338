import { load } from './change.js';
import { restoreDraft, storeDraft } from './drafts.js';
import { say } from './notice.js';

/** How many lines of `text` hold a task. */
export const countLines = (text: string) => text.split('\n').filter((line) => line.trim()).length;

const tasksIn = (text: string) => {
  const count = countLines(text);
  return `${count} ${count === 1 ? 'task' : 'tasks'}`;
};

/** Puts the form of the import page in the place of the one that adds one task. */
export async function offerLines(single: HTMLFormElement, text: string) {
  const form = (await load('/tasks/import')).querySelector('form.write') as HTMLFormElement;
  const area = form.querySelector('textarea') as HTMLTextAreaElement;
  const add = form.querySelector('button') as HTMLElement;
  const count = () => {
    add.textContent = `Add ${tasksIn(area.value)}`;
  };
  form.action = '/task';
  form.classList.add('lines');
  area.value = text;
  restoreDraft(form);
  // A short list does not push its button off the screen of a phone.
  area.rows = Math.min(area.rows, text.split('\n').length);
  area.oninput = count;
  count();
  single.after(form);
  single.hidden = true;
  storeDraft(form, area.value);
  add.focus();
}

/** Says that the lines were added, and leads to them if they are not shown here. */
export function linesAdded(several: HTMLFormElement, text: string) {
  const shown = new URLSearchParams(location.search);
  const elsewhere = shown.get('filter') === 'finished' || shown.has('after');
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
