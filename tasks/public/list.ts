import { add, restoreAdd, typed } from './adding.js';
import { redraw } from './calm.js';
import { enqueue, refresh } from './change.js';
import { settleSent, storeDraft } from './drafts.js';
import { edit, endEdit, restoreEdits, saveEdit } from './editing.js';
import { countTasks, explain, isLocked, linesOf, single } from './form.js';
import { forgetAll } from './kept.js';
import { pressKey } from './keys.js';
import './live.js';
import { pasteLong, problemOfPaste } from './clipboard.js';
import { watchMoves } from './moves.js';
import { complain } from './notice.js';
import { isOffline, whatWaits } from './offline.js';
import { endLines, offerLines, restoreLines, saveLines } from './pasting.js';
import { afterChanges } from './pending.js';
import { reach } from './request.js';
import { press, toggle, undoChange } from './rows.js';
import { forget } from './unanswered.js';

/** The element of the last click that was not ignored. Undefined if that click did not hit a part of the page. */
let clicked: Element | undefined;

/** Whether a click may have missed: it hits the list because a row ignores taps, or it is the second of a double click. */
function isIgnored({ target, detail }: MouseEvent) {
  const at = target as Element;
  if (at.matches('.tasks, #list')) return true;
  if (detail < 2 || clicked === undefined) return false;
  return at !== clicked || at.matches('li :not(textarea), .plain, .write:invalid .main');
}

document.addEventListener('mousedown', (event) => {
  if (isIgnored(event)) event.preventDefault();
});

document.addEventListener('click', (event) => {
  const target = event.target as Element;
  const row = target.closest<HTMLElement>('.tasks > li');
  if (isIgnored(event)) {
    const isSameRow = row !== null && row === clicked?.closest('li');
    if (isSameRow && !target.closest('a, button, summary, .editing')) edit(row);
    event.preventDefault();
    return;
  }
  clicked = target.matches('main') ? undefined : target;
  if (target.matches('summary'))
    requestAnimationFrame(() => target.nextElementSibling?.scrollIntoView({ block: 'nearest' }));
  const link = target.closest('a');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (follow(link, row)) event.preventDefault();
});

/** The links that leave the page, and wait for changes under way. */
const leavingLinks = '.busy :is(nav a, footer a, .found a, #notice a:not([target]), .keys)';

/** The links to pages and files that this device does not keep. */
const onlineLinks = 'footer a, #notice a[href^="/tasks/"]';

/** Handles a link. Returns whether the link did something. */
function follow(link: HTMLAnchorElement, row: HTMLElement | null) {
  if (row && link.matches('.toggle')) toggle(row);
  else if (row && link.matches('.edit')) edit(row);
  else if (link.matches('.cancel')) cancel(link);
  else if (isOffline() && link.matches(onlineLinks)) void followOnline(link);
  else if (link.matches(leavingLinks)) afterChanges(() => location.assign(link.href));
  else return false;
  return true;
}

/** Follows a link if there is a connection after all. */
async function followOnline(link: HTMLAnchorElement) {
  if (await reach()) link.click();
  else complain('This needs a connection.', { isPassing: true });
}

document.addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement;
  event.preventDefault();
  if (form.matches('.find')) afterChanges(() => form.submit());
  else if (form.matches('[action="/logout"]')) enqueue(() => logOut(form));
  else if (form === single) add();
  else if (form.matches('.lines')) saveLines(form);
  else if (form.matches('.write')) saveEdit(form);
  else if (form.closest('#notice')) undoChange(form);
  else press(form, event.submitter as HTMLButtonElement | null);
});

/** Logs out, which deletes what waits on this device. */
async function logOut(form: HTMLFormElement) {
  if (isOffline()) return complain('Logging out needs a connection.', { isPassing: true });
  const waits = whatWaits();
  if (waits && !confirm(`${waits} Delete this and log out?`)) return;
  await forgetAll();
  form.submit();
}

document.addEventListener('input', ({ target }) => {
  const { form } = target as HTMLInputElement;
  if (!form?.matches('.write')) return;
  explain(form, '');
  if (form === single) typed();
  else storeDraft(form);
  if (!form.closest('li')) countTasks(form);
});

// Enter saves a title, even in a text area.
document.addEventListener('beforeinput', (event) => {
  const field = event.target as HTMLInputElement;
  if (!/^insert(LineBreak|Paragraph)$/.test(event.inputType) || field.name !== 'title') return;
  event.preventDefault();
  if (!event.isComposing) field.form?.requestSubmit();
});

// Pasted lines become tasks. A second paste is appended, even if a button has the focus.
document.addEventListener('paste', (event) => {
  const target = event.target as Element;
  const text = event.clipboardData?.getData('text/plain') ?? '';
  const problem = problemOfPaste(event);
  if (problem) {
    event.preventDefault();
    const lines = document.querySelector<HTMLFormElement>('.lines');
    explain(target.closest<HTMLFormElement>('form.write:not([hidden])') ?? lines ?? single, problem);
    return;
  }
  if (pasteLong(event) || target.matches('input:not(#title), textarea:not(#title)')) return;
  // Without a connection, the lines wait in the field.
  const isList = linesOf(text).length > 1 && !isOffline();
  if (!document.querySelector('.lines') && (target.id !== 'title' || !isList)) return;
  event.preventDefault();
  offerLines(text);
});

/** In Safari, the key that ends a composition has this code, and `isComposing` is already false. */
const compositionKey = 229;

document.addEventListener('keydown', (event) => {
  if (event.isComposing || event.keyCode === compositionKey) return;
  if (event.key === 'Escape') cancel(event.target as Element);
  else if (pressKey(event)) event.preventDefault();
});

/** Handles Escape and Cancel in `part`. Keeps the form open while its request is pending. */
function cancel(part: Element) {
  if (part.id === 'title') {
    document.querySelector<HTMLElement>('.tasks > li, #list')?.focus({ preventScroll: true });
    return;
  }
  const form = part.closest<HTMLFormElement>('.lines, .editing form');
  if (!form || isLocked(form)) return;
  explain(form, '');
  const row = form.closest('li');
  if (row) {
    endEdit(row);
    redraw();
  } else {
    forget();
    endLines(form);
  }
  enqueue(() => refresh().catch(() => {}));
}

// The server redirects to the list after it has saved a form. Back and links load the list directly.
settleSent(performance.getEntriesByType('navigation')[0]?.toJSON().redirectCount > 0);
restoreAdd();
restoreLines();
restoreEdits();

// Focus the field here, because autofocus would stop the browser from restoring the scroll position.
document.querySelector<HTMLElement>('body:not(:has(.editing)) [autofocus]')?.focus({ preventScroll: true });
addEventListener('scrollend', () => history.replaceState(scrollY, ''));
if (history.state) scrollTo(0, history.state);
watchMoves();
