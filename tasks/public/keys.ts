import { load, report } from './change.js';
import { next } from './focus.js';
import { edit } from './forms.js';
import { toggle, undo } from './rows.js';

/** Where a reader turned the single keys off (WCAG 2.1.4), this is stored. */
const off = 'single keys off';
let single = true;
try {
  single = !localStorage.getItem(off);
} catch {
  // A browser that forbids storage asks again on every page.
}

let dialog: HTMLDialogElement | undefined;

async function openDialog() {
  if (!dialog) {
    const { href } = document.querySelector('footer .keys') as HTMLAnchorElement;
    dialog = (await load(href)).getElementById('keys') as HTMLDialogElement;
    dialog.open = false;
    document.body.append(dialog);
    const box = dialog.querySelector('input') as HTMLInputElement;
    box.checked = single;
    box.onchange = () => {
      single = box.checked;
      if (single) localStorage.removeItem(off);
      else localStorage.setItem(off, 'yes');
    };
  }
  dialog.showModal();
}

/** Shows the keys, and says so if that fails. */
export const showKeys = () => openDialog().catch(report);

/**
 * Does what a key stands for. A field and a dialog keep all keys to themselves, and a button and a link their own.
 *
 * @returns false: the key is not ours
 */
function pressKey(event: KeyboardEvent): unknown {
  const { key, target, ctrlKey, metaKey, altKey, shiftKey, repeat } = event;
  const at = target as Element;
  if (at.closest('input, textarea, select, dialog')) return false;
  if (ctrlKey || metaKey) return letter(event) === 'z' && !altKey && !shiftKey && !repeat && undo();
  if (altKey) return false;
  const row = at.closest<HTMLElement>('.tasks > li:not(.editing)');
  if (row || at.id === 'list') {
    if (key === 'ArrowUp' || key === 'ArrowDown') return next(row, key)?.focus();
    if (key === ' ' && !at.closest('button, summary')) return row && !repeat && toggle(row);
  }
  if (repeat) return false;
  if (row === at && key === 'Enter') return edit(row);
  if (row === at && /^(Delete|Backspace)$/.test(key))
    return row.querySelector<HTMLElement>('.actions button')?.click();
  if (single && letter(event) === 'n') return document.getElementById('title')?.focus();
  return single && key === '?' && showKeys();
}

/** The Latin letter on a key, also where the layout has other letters there. */
const letter = ({ key, code }: KeyboardEvent) =>
  (/^[\x20-\x7e]/.test(key) ? key : code.replace('Key', '')).toLowerCase();

document.addEventListener('keydown', (event) => {
  if (!event.isComposing && pressKey(event) !== false) event.preventDefault();
});
