import { load } from './change.ts';
import { storeDraft } from './drafts.ts';
import { show } from './swap.ts';

/**
 * Puts the form of the task's edit page in place of its row.
 *
 * @returns the form; undefined if the task is gone or edited already
 */
export async function edit(task: Element, url: string): Promise<HTMLFormElement | undefined> {
  const { page } = await load(url);
  const form = page.querySelector('form.write') as HTMLFormElement | null;
  // The list may have changed since the click.
  const row = document.getElementById(task.id);
  if (!form || !row || row.matches('.editing')) return undefined;
  // The rows below stay where they are.
  row.style.minBlockSize = `${row.getBoundingClientRect().height}px`;
  row.replaceChildren(form);
  row.classList.add('editing');
  const field = row.querySelector('[autofocus]') as HTMLInputElement;
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  return form;
}

/**
 * Makes the edit of a task that somebody deleted add it again.
 *
 * @returns what to say
 */
export function addAgain(form: HTMLFormElement) {
  const { _method, revision } = form.elements as unknown as Record<'_method' | 'revision', HTMLInputElement>;
  _method.remove();
  // However often it is sent, one task is added.
  revision.name = 'nonce';
  revision.value += form.action;
  form.action = '/task';
  (form.querySelector('.main') as Element).textContent = 'Add again';
  return 'Somebody deleted this task. What you typed is still here.';
}

/** Shows the row as the list has it. */
export function endEdit(task: Element) {
  storeDraft(task.id);
  task.classList.remove('editing');
  // It is no news.
  task.setAttribute('data-ahead', '');
  show();
  document.querySelector<HTMLElement>(`#${task.id} .edit`)?.focus({ preventScroll: true });
}
