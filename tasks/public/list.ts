// The list without page loads: fetch sends the same links and forms, and the response is morphed in.

import { enqueue, refresh } from './change.js';
import { settleSent, single } from './drafts.js';
import { add, edit, endEdit, explain, keepDraft, restoreDrafts, save } from './forms.js';
import './keys.js';
import './live.js';
import { countLines, countTasks, endLines, offerLines } from './paste.js';
import { press, toggle, undoChange } from './rows.js';

/** The row under the first click of a double click. */
let clicked: Element | null = null;

document.addEventListener('click', (event) => {
  const target = event.target as Element;
  if (event.detail === 1) clicked = target.closest('.tasks > li');
  // The second click of a double click may hit another task that has just moved there, or an empty form.
  if (event.detail > 1 && target.closest('.tasks :is(a, button, summary), .write:invalid button'))
    return event.preventDefault();
  const link = target.closest('a');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const row = link.closest('li');
  if (row && link.matches('.toggle')) toggle(row);
  else if (row && link.matches('.edit')) edit(row);
  else if (link.matches('.cancel')) cancel(link);
  // Changes under way come first.
  else if (link.closest('nav, footer, .found') && document.body.matches('.busy'))
    enqueue(async () => location.assign(link.href));
  else return;
  event.preventDefault();
});

document.addEventListener('dblclick', ({ target }) => {
  const row = (target as Element).closest<HTMLElement>('.tasks > li:not(.editing)');
  if (row && row === clicked && !(target as Element).closest('a, button, summary')) edit(row);
});

document.addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement;
  const leaves = form.matches('.find, [action="/logout"]');
  if (leaves && !document.body.matches('.busy')) return;
  event.preventDefault();
  if (leaves) enqueue(() => form.submit());
  else if (form === single) add();
  else if (form.matches('.write')) save(form);
  else if (form.closest('#notice')) undoChange(form);
  else press(form, event.submitter);
});

document.addEventListener('input', ({ target }) => {
  const form = (target as HTMLInputElement).form;
  if (!form?.matches('.write')) return;
  explain(form, '');
  keepDraft(form);
  if (!form.closest('li')) countTasks(form);
});

// Enter saves a title, even in a field of several lines.
document.addEventListener('beforeinput', (event) => {
  const field = event.target as HTMLInputElement;
  if (!/^insert(LineBreak|Paragraph)$/.test(event.inputType) || field.name !== 'title') return;
  event.preventDefault();
  field.form?.requestSubmit();
});

// A title has one line. A second paste joins the first, also while a button has the focus.
const paste = (event: ClipboardEvent) => {
  const target = event.target as Element;
  const text = event.clipboardData?.getData('text/plain') ?? '';
  if (target.matches('input:not(#title), textarea:not(#title)')) return;
  if (!document.querySelector('.lines') && (target.id !== 'title' || countLines(text) < 2)) return;
  event.preventDefault();
  offerLines(text);
};
document.addEventListener('paste', paste, { capture: true });

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.isComposing) return;
  const target = event.target as Element;
  if (target.id === 'title')
    document.querySelector<HTMLElement>('.tasks > li, #list')?.focus({ preventScroll: true });
  else cancel(target);
});

/** Closes the form around `part`. While it is being sent, only the response does that. */
function cancel(part: Element) {
  const form = part.closest<HTMLFormElement>('.lines, .editing form');
  if (!form || form.querySelector('[readonly]')) return;
  const row = form.closest('li');
  if (!row) return endLines(form);
  endEdit(row);
  enqueue(refresh);
}

// The list follows a submit only if the server has saved the form.
settleSent(document.referrer !== '');
restoreDrafts();
