import { afterChanges, enqueue } from './change.js';
import { single } from './drafts.js';
import { leave, next } from './focus.js';
import { add, cancel, countTasks, edit, explain, keepDraft, linesOf, offerLines, save } from './forms.js';
import './live.js';
import { press, toggle, undoChange } from './rows.js';

/** Clicks that may miss: one that hits the list because a row has just moved, and the second of a double click. */
const isIgnored = ({ target, detail }: MouseEvent) =>
  (target as Element).matches('.tasks, #list') ||
  (detail > 1 && (target !== clicked || clicked?.matches('li :not(textarea), .plain, .write:invalid .main')));

let clicked: Element | undefined;
document.addEventListener('mousedown', (event) => isIgnored(event) && event.preventDefault());
document.addEventListener('click', (event) => {
  const target = event.target as Element;
  const row = target.closest<HTMLElement>('.tasks > li');
  if (isIgnored(event)) {
    if (row && row === clicked?.closest('li') && !target.closest('a, button, summary, .editing')) edit(row);
    return event.preventDefault();
  }
  clicked = target;
  if (target.matches('summary'))
    requestAnimationFrame(() => target.nextElementSibling?.scrollIntoView({ block: 'nearest' }));
  const link = target.closest('a');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (row && link.matches('.toggle')) toggle(row);
  else if (row && link.matches('.edit')) edit(row);
  else if (link.matches('.cancel')) cancel(link);
  else if (link.matches('.busy :is(nav a, footer a, .found a, #notice a:not([target]), .keys)'))
    afterChanges(() => location.assign(link.href));
  else return;
  event.preventDefault();
});

document.addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement;
  event.preventDefault();
  if (form.matches('.find')) afterChanges(() => form.submit());
  else if (form.matches('[action="/logout"]')) enqueue(() => form.submit());
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

// Enter saves a title, even in a text area.
document.addEventListener('beforeinput', (event) => {
  const field = event.target as HTMLInputElement;
  if (!/^insert(LineBreak|Paragraph)$/.test(event.inputType) || field.name !== 'title') return;
  event.preventDefault();
  field.form?.requestSubmit();
});

// Pasted lines become tasks. A second paste is appended, even if a button has the focus.
document.addEventListener('paste', (event) => {
  const target = event.target as Element;
  const text = event.clipboardData?.getData('text/plain') ?? '';
  if (target.matches('input:not(#title), textarea:not(#title)')) return;
  if (!document.querySelector('.lines') && (target.id !== 'title' || linesOf(text).length < 2)) return;
  event.preventDefault();
  offerLines(text);
});

document.addEventListener('keydown', (event) => {
  if (event.isComposing) return;
  if (event.key === 'Escape') cancel(event.target as Element);
  else if (pressKey(event) !== false) event.preventDefault();
});

/** Handles a key, or returns false. Single keys need the focus in the list (WCAG 2.1.4). */
function pressKey({ key, code, target, ctrlKey, metaKey, altKey, shiftKey, repeat }: KeyboardEvent): unknown {
  const at = target as Element;
  // The Latin letter on any keyboard layout.
  const letter = (/^[\x20-\x7e]/.test(key) ? key : code.replace('Key', '')).toLowerCase();
  if (at.closest('input, textarea:not([readonly])') || altKey) return false;
  const undo = () => document.querySelector<HTMLFormElement>('#notice form')?.requestSubmit();
  if (ctrlKey || metaKey) return letter === 'z' && !shiftKey && !repeat && afterChanges(undo);
  if (!at.matches('#list, .tasks *')) return false;
  if (key === 'ArrowUp' || key === 'ArrowDown') return next(at.closest('.tasks > li'), key)?.focus();
  // What is typed during a save must not act on the row after the save.
  if (key !== 'Tab' && at.matches('li:has([readonly]) *')) return leave(at.closest('li') as HTMLElement);
  const row = at.closest<HTMLElement>('.tasks > li:not(.editing)');
  if (key === ' ' && !at.closest('button, summary, .edit')) return row && !repeat && toggle(row);
  if (repeat || !(row || at.matches('body:not(:has([readonly])) #list, .editing'))) return false;
  if (row === at && key === 'Enter') return edit(row);
  if (row === at && /Delete|Backspace/.test(key)) return at.querySelector<HTMLElement>('button')?.click();
  if (letter === 'n') return document.getElementById('title')?.focus();
  return key === '?' && document.querySelector<HTMLElement>('.keys')?.click();
}

// Focus the field here, because autofocus would stop the browser from restoring the scroll position.
document.querySelector<HTMLElement>('body:not(:has(.editing)) [autofocus]')?.focus({ preventScroll: true });
addEventListener('scrollend', () => history.replaceState(scrollY, ''));
if (history.state) scrollTo(0, history.state);
