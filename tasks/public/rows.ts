import { change, post, report } from './change.js';
import { leave } from './focus.js';
import { focusList, say } from './notice.js';

/** Finishes or reopens a task. */
export function toggle(row: HTMLElement) {
  const { href, search } = row.querySelector('.toggle') as HTMLAnchorElement;
  // The state that the user sees.
  const was = row.dataset.pending ?? (row.matches('.finished') ? 'finished' : 'open');
  const [as, action] = was === 'finished' ? ['open', 'unfinish'] : ['finished', 'finish'];
  change(new URL(action + search, href).href, { rows: [row], as, request: () => ({}) });
}

/** Deletes a task, or clears finished tasks. */
export function press(form: HTMLFormElement, button: HTMLElement | null) {
  const row = button?.closest<HTMLElement>('.tasks > li');
  const request = post(new FormData(form, button));
  if (row) leave(row);
  change(button?.getAttribute('formaction') ?? form.action, {
    rows: row ? [row] : [...document.querySelectorAll<HTMLElement>('.tasks > .finished')],
    as: 'gone',
    request: () => request,
  });
}

/** Undoes the change in the notice. */
export function undoChange(form: HTMLFormElement) {
  if (form.dataset.pending) return;
  const request = post(new FormData(form));
  const { pathname } = new URL(form.action);
  const row = document.getElementById(pathname.replace('/tasks/', 'task-'));
  const title = form.closest('#notice')?.querySelector('bdi')?.textContent;
  const finished = form.querySelector<HTMLInputElement>('[name=finished]')?.value;
  focusList();
  change(form.action, {
    rows: row ? [form, row] : [form],
    as: finished === '0' ? 'open' : finished === '1' ? 'finished' : 'sent',
    request: () => request,
    done: () => say(pathname.endsWith('/restore') ? 'Restored' : 'Undone', title),
    failed(failure) {
      // Somebody else has undone the change, or changed the task.
      if (/404|412/.test(`${failure.status}`)) form.remove();
      report(failure);
    },
  });
}
