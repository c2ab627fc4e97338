import { next } from './focus.js';
import { edit } from './forms.js';
import { toggle, undo } from './rows.js';

/**
 * Acts on a key; false if it has no meaning here. Fields, buttons and links keep their own keys. Single keys work only in
 * the list: WCAG 2.1.4 wants them bound to the focus, or a way to turn them off.
 */
function pressKey(event: KeyboardEvent): unknown {
  const { key, target, ctrlKey, metaKey, altKey, shiftKey, repeat } = event;
  const at = target as Element;
  if (at.closest('input, textarea')) return false;
  if (ctrlKey || metaKey) return letter(event) === 'z' && !altKey && !shiftKey && !repeat && undo();
  if (altKey) return false;
  const row = at.closest<HTMLElement>('.tasks > li:not(.editing)');
  if (!row && at.id !== 'list') return false;
  if (key === 'ArrowUp' || key === 'ArrowDown') return next(row, key)?.focus();
  if (key === ' ' && !at.closest('button, summary')) return row && !repeat && toggle(row);
  if (repeat) return false;
  if (row === at && key === 'Enter') return edit(row);
  if (row === at && /^(Delete|Backspace)$/.test(key))
    return row.querySelector<HTMLElement>('.actions button')?.click();
  if (letter(event) === 'n') return document.getElementById('title')?.focus();
  return key === '?' && document.querySelector<HTMLElement>('.keys')?.click();
}

/** The Latin letter of a key, also on other layouts. */
const letter = ({ key, code }: KeyboardEvent) =>
  (/^[\x20-\x7e]/.test(key) ? key : code.replace('Key', '')).toLowerCase();

document.addEventListener('keydown', (event) => {
  if (!event.isComposing && pressKey(event) !== false) event.preventDefault();
});
