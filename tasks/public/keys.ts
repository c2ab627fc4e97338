import { edit } from './editing.js';
import { hasLeft, leave, next } from './focus.js';
import { isLocked } from './form.js';
import { afterChanges } from './pending.js';
import { toggle } from './rows.js';

/** The Latin letter of a key on any keyboard layout. */
const letterOf = ({ key, code }: KeyboardEvent) =>
  (/^[\x20-\x7e]/.test(key) ? key : code.replace('Key', '')).toLowerCase();

const undo = () => document.querySelector<HTMLFormElement>('#notice form')?.requestSubmit();

/** Handles a key. Returns whether the key did something. Single keys need the focus in the list (WCAG 2.1.4). */
export function pressKey(event: KeyboardEvent): boolean {
  const { key, altKey, ctrlKey, metaKey, shiftKey, repeat } = event;
  const at = event.target as Element;
  if (at.closest('input, textarea:not([readonly])') || altKey) return false;
  if (ctrlKey || metaKey) {
    if (letterOf(event) !== 'z' || shiftKey || repeat) return false;
    afterChanges(undo);
    return true;
  }
  if (!at.matches('#list, .tasks *')) return false;
  const row = at.closest<HTMLElement>('.tasks > li');
  if (key === 'ArrowUp' || key === 'ArrowDown') {
    next(row, key)?.focus();
    return true;
  }
  if (row?.matches('.editing')) return pressInForm(row, event);
  const isControl = at.closest('button, summary, .edit') !== null;
  // A Space for a row that has just left must not scroll.
  if (key === ' ' && !isControl && (row || hasLeft())) {
    if (row && !repeat) toggle(row);
    return true;
  }
  if (repeat) return false;
  return (row === at && pressOnRow(row, key)) || pressAnywhere(event);
}

/** What is typed during a save must not act on the row after the save. */
function pressInForm(row: HTMLElement, event: KeyboardEvent) {
  const form = row.querySelector('form');
  if (form && isLocked(form)) {
    if (event.key === 'Tab') return false;
    leave(row);
    return true;
  }
  return event.target === row && !event.repeat && pressAnywhere(event);
}

function pressOnRow(row: HTMLElement, key: string) {
  if (key === 'Enter') edit(row);
  else if (key === 'Delete' || key === 'Backspace') row.querySelector<HTMLElement>('button')?.click();
  else return false;
  return true;
}

function pressAnywhere(event: KeyboardEvent) {
  const isSaving = document.querySelector('.editing [readonly]') !== null;
  if (isSaving) return false;
  if (letterOf(event) === 'n') document.getElementById('title')?.focus();
  else if (event.key === '?') document.querySelector<HTMLElement>('.keys')?.click();
  else return false;
  return true;
}
