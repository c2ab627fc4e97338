// The list without page loads: fetch sends the same links and forms, and the page that comes back is morphed in.
// Without this script they are plain links and forms.

import { enqueue, heard, refresh, refreshQuietly } from './change.js';
import { edit, endEdit, explain, keepDraft, restoreDrafts, write } from './forms.js';
import './keys.js';
import { live } from './live.js';
import { complain } from './notice.js';
import { countLines, endLines, offerLines } from './paste.js';
import { press, toggle } from './rows.js';

const field = document.getElementById('title') as HTMLInputElement;

/** The row of the first click of a double click. */
let clicked: Element | null = null;

document.addEventListener('click', (event) => {
  const target = event.target as Element;
  if (event.detail === 1) clicked = target.closest('.tasks > li');
  // The second click of a double click may hit another task, which has just moved under the pointer, or an empty form.
  if (event.detail > 1 && target.closest('.tasks :is(a, button, summary), .write:invalid button'))
    return event.preventDefault();
  const link = target.closest('a');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const row = link.closest('li');
  if (row && link.matches('.toggle')) toggle(row);
  else if (row && link.matches('.edit')) edit(row);
  else if (link.matches('.cancel')) cancel(link);
  // What is under way is answered first.
  else if (link.closest('nav, footer') && document.body.matches('.busy'))
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
  // They leave the list.
  if (form.matches('.find, [action="/logout"]')) return;
  event.preventDefault();
  if (form.matches('.write')) write(form);
  else press(form, event.submitter);
});

document.addEventListener('input', ({ target }) => {
  const form = (target as HTMLInputElement).form;
  if (!form?.matches('.write')) return;
  explain(form, '');
  keepDraft(form);
});

// The field has one line.
field.addEventListener('paste', (event) => {
  const text = event.clipboardData?.getData('text/plain') ?? '';
  if (countLines(text) < 2) return;
  event.preventDefault();
  enqueue(() => offerLines(field.form as HTMLFormElement, text));
});

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.isComposing) return;
  if (event.target === field)
    document.querySelector<HTMLElement>('.tasks > li, #list')?.focus({ preventScroll: true });
  else cancel(event.target as Element);
});

/** Puts away the form around `part`, where it took the place of something. */
function cancel(part: Element) {
  const lines = part.closest<HTMLFormElement>('.lines');
  if (lines) return endLines(lines);
  const row = part.closest<HTMLElement>('.editing');
  if (!row) return;
  endEdit(row);
  enqueue(refresh);
}

restoreDrafts();
live(
  '/tasks/events',
  heard,
  () => enqueue(refreshQuietly),
  () => complain('Not connected. This list may be out of date.', 0),
);
