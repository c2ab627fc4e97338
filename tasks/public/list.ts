// The list without page loads: fetch sends the same links and forms, and the list that comes back is swapped in.
// Without this script they are plain links and forms.

import { enqueue, load, refresh, refreshQuietly } from './change.ts';
import { drafts } from './drafts.ts';
import { endEdit } from './edit.ts';
import { checkEdits, editInPlace, explain, keepDraft, restoreDraft, settle, write } from './form.ts';
import { help } from './keys.ts';
import { live } from './live.ts';
import { mention, recovered } from './notice.ts';
import { countLines, endLines, offerLines } from './paste.ts';
import { list, shownVersion, swap } from './swap.ts';
import { focusRow, press, toggle } from './undo.ts';

const field = document.getElementById('title') as HTMLInputElement;

// After a reload, or Import and Back.
const adding = field.form as HTMLFormElement;
restoreDraft(adding);

document.addEventListener('click', (event) => {
  const target = event.target as Element;
  // The second click of a double click may hit another task, which has just moved under the pointer, or an empty form.
  if (event.detail > 1 && target.closest('.tasks :is(a, button), .write button'))
    return event.preventDefault();
  const link = target.closest('a');
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const task = link.closest('li');
  if (task && link.matches('.toggle')) toggle(task);
  else if (task && link.matches('.edit')) editInPlace(task);
  else if (link.matches('.cancel')) cancel(link);
  else if (link.closest('#list nav')) visit(link);
  else if (link.matches('.keys')) help();
  else return;
  event.preventDefault();
});

document.addEventListener('dblclick', (event) => {
  const target = event.target as Element;
  const task = target.closest('.tasks > li:not(.editing)');
  if (task && !target.closest('a, button')) editInPlace(task);
});

document.addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement;
  // It leaves the list, or closes a dialog.
  if (form.matches('[action="/logout"], [method=dialog]')) return;
  event.preventDefault();
  const button = event.submitter as HTMLButtonElement | null;
  if (form.matches('.write')) write(form);
  else if (button) press(form, button);
});

document.addEventListener('input', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || !target.form) return;
  explain(target.form, '');
  keepDraft(target.form);
});

// The field has one line.
field.addEventListener('paste', (event) => {
  const text = event.clipboardData?.getData('text/plain') ?? '';
  if (countLines(text) < 2) return;
  event.preventDefault();
  enqueue(() => offerLines(adding, text));
});

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.isComposing) return;
  if (event.target === field) focusRow();
  else cancel(event.target as Element);
});

addEventListener('popstate', () => enqueue(refresh));

for (const place of Object.keys(drafts())) {
  const task = list.querySelector(`li#${place}`);
  if (task) editInPlace(task);
}

/** Puts away the form around `part`, where it took the place of something. */
function cancel(part: Element) {
  const lines = part.closest('.lines');
  if (lines) return endLines(lines);
  const task = part.closest('.editing');
  if (!task) return;
  endEdit(task);
  enqueue(refresh);
}

/** Shows another part of the list and changes the address, so that Back works. */
function visit({ href, rel }: HTMLAnchorElement) {
  enqueue(async () => {
    const { page } = await load(href);
    history.pushState(null, '', href);
    swap(page);
    if (rel) list.scrollIntoView();
  });
}

let latest = shownVersion();

/** Whether the connection was refused since the last word. */
let refused = false;

live('/tasks/events', heard, () => {
  // Perhaps the session has ended.
  if (!refused) enqueue(refreshQuietly);
  refused = true;
});

/** @param version of the current list */
function heard(version: string) {
  latest = version;
  refused = false;
  recovered();
  settle(version);
  enqueue(async () => {
    const shown = shownVersion();
    if (latest === shown) return;
    // Nobody asked for this refresh, so a failure is not shown. The server sends the version again soon.
    await refreshQuietly();
    await checkEdits();
    if (shown !== shownVersion())
      mention(`The list changed: ${document.getElementById('count')?.textContent}`);
  });
}
