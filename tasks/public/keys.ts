import { load } from './change.ts';

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
export async function showKeys(url: string) {
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

interface Commands {
  /** Returns whether there was something to undo. */
  undo: () => boolean;
  toggle: (task: Element) => void;
  edit: (task: Element) => void;
  write: () => void;
  help: () => void;
}

/** Calls what a key stands for. A field and a dialog keep all keys to themselves, and a button and a link their own. */
export function listen({ undo, toggle, edit, write, help }: Commands) {
  /** @returns false: the key is not ours */
  function press({ key, target, ctrlKey, metaKey, altKey, shiftKey, repeat }: KeyboardEvent): unknown {
    const at = target as Element;
    if (at.closest('input, textarea, select, dialog')) return false;
    if (ctrlKey || metaKey) return key.toLowerCase() === 'z' && !altKey && !shiftKey && undo();
    if (altKey) return false;
    const task = at.closest('.tasks > li:not(.editing)');
    if (task && key === 'ArrowDown') return focus(task.nextElementSibling);
    if (task && key === 'ArrowUp') return focus(task.previousElementSibling);
    if (repeat) return false;
    if (task && key === ' ' && !at.closest('button')) return toggle(task);
    if (task === at && key === 'Enter') return edit(task);
    if (single && key === 'n') return write();
    if (single && key === '?') return help();
    return false;
  }
  document.addEventListener('keydown', (event) => {
    if (!event.isComposing && press(event) !== false) event.preventDefault();
  });
}

function focus(row: Element | null) {
  (row as HTMLElement | null)?.focus();
}
