import { load } from './change.ts';
import { editInPlace } from './form.ts';
import { complain } from './notice.ts';
import { toggle, undo } from './undo.ts';

/** Where a reader turned the single keys off (WCAG 2.1.4), this is stored. */
const off = 'single keys off';
let single = true;
try {
  single = !localStorage.getItem(off);
} catch {
  // A browser that forbids storage asks again on every page.
}

let dialog: HTMLDialogElement | undefined;

/**
 * Shows the keys.
 *
 * @param url of the page that lists them
 */
async function showKeys(url: string) {
  if (!dialog) {
    const { page } = await load(url);
    dialog = page.getElementById('keys') as HTMLDialogElement;
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
export function help() {
  const link = document.querySelector('footer .keys') as HTMLAnchorElement;
  showKeys(link.href).catch(({ message }) => complain(message));
}

/**
 * Does what a key stands for. A field and a dialog keep all keys to themselves, and a button and a link their own.
 *
 * @returns false: the key is not ours
 */
function pressKey({ key, target, ctrlKey, metaKey, altKey, shiftKey, repeat }: KeyboardEvent): unknown {
  const at = target as Element;
  if (at.closest('input, textarea, select, dialog')) return false;
  if (ctrlKey || metaKey) return key.toLowerCase() === 'z' && !altKey && !shiftKey && undo();
  if (altKey) return false;
  const task = at.closest('.tasks > li:not(.editing)');
  if (task && key === 'ArrowDown') return focus(task.nextElementSibling);
  if (task && key === 'ArrowUp') return focus(task.previousElementSibling);
  if (repeat) return false;
  if (task && key === ' ' && !at.closest('button')) return toggle(task);
  if (task === at && key === 'Enter') return editInPlace(task);
  if (single && key === 'n') return focus(document.getElementById('title'));
  if (single && key === '?') return help();
  return false;
}

document.addEventListener('keydown', (event) => {
  if (!event.isComposing && pressKey(event) !== false) event.preventDefault();
});

function focus(element: Element | null) {
  (element as HTMLElement | null)?.focus();
}
