import { change, post, report } from './change.js';
import { leave, rows } from './focus.js';
import { focusList, say } from './notice.js';

/** The state that the user sees. */
const stateOf = (row: HTMLElement) => row.dataset.pending ?? (row.matches('.finished') ? 'finished' : 'open');

/** Finishes or reopens a task. */
export function toggle(row: HTMLElement) {
  const { href, search } = row.querySelector('.toggle') as HTMLAnchorElement;
  const [as, action] = stateOf(row) === 'finished' ? ['open', 'unfinish'] : ['finished', 'finish'];
  change(new URL(action + search, href).href, { rows: [row], as, request: () => ({}) });
}

/** Deletes a task, or clears finished tasks. */
export function press(form: HTMLFormElement, button: HTMLElement | null) {
  const row = button?.closest<HTMLElement>('.tasks > li');
  const request = post(new FormData(form, button));
  if (row) leave(row);
  change(button?.getAttribute('formaction') ?? form.action, {
    rows: row ? [row] : rows().filter((each) => stateOf(each) === 'finished'),
    as: 'gone',
    request: () => request,
  });
}

/** Undoes the change in the notice. */
export function undoChange(form: HTMLFormElement) {
  if (form.dataset.pending) return;
  const request = post(new FormData(form));
  const row = document.getElementById(new URL(form.action).pathname.replace('/tasks/', 'task-'));
  const title = form.closest('#notice')?.querySelector('bdi')?.textContent;
  const finished = form.querySelector<HTMLInputElement>('[name=finished]')?.value;
  focusList();
  change(form.action, {
    rows: row ? [form, row] : [form],
    as: finished === '0' ? 'open' : finished === '1' ? 'finished' : row ? stateOf(row) : 'sent',
    request: () => request,
    done: () => say(form.action.includes('/restore') ? 'Restored' : 'Undone', title),
    failed(failure) {
      // Somebody else has undone the change, or changed the task.
      if (/404|412/.test(`${failure.status}`)) form.remove();
      report(failure);
    },
  });
}
