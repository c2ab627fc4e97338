import { change, enqueue, type Failure, perhapsDeleted, post, report } from './change.js';
import { leave } from './focus.js';
import { say } from './notice.js';

/** Milliseconds for which a finished row stays in place, struck through. */
const seen = 1_000;

export const lostAnswer = 'No answer. It may not be saved.';

export const titleOf = (row: Element) => row.querySelector('.title')?.textContent ?? '';

/** Finishes or reopens a task. */
export function toggle(row: HTMLElement) {
  const { href, search } = row.querySelector('.toggle') as HTMLAnchorElement;
  // As the user sees it, maybe not confirmed yet.
  const was = row.dataset.pending ?? (row.matches('.finished') ? 'finished' : 'open');
  const [as, action, word] =
    was === 'finished' ? ['open', 'unfinish', 'Reopened'] : ['finished', 'finish', 'Finished'];
  change(new URL(action + search, href).href, {
    rows: [row],
    as,
    milliseconds: as === 'finished' ? seen : 0,
    lost: lostAnswer,
    request: () => ({}),
    done: () => say(word, titleOf(row)),
  });
}

/** Deletes a task or clears the finished ones. */
export function press(form: HTMLFormElement, button: HTMLElement | null) {
  const row = button?.closest<HTMLElement>('.tasks > li');
  const request = post(new FormData(form, button));
  if (row) leave(row);
  change(button?.getAttribute('formaction') ?? form.action, {
    rows: row ? [row] : document.querySelectorAll('.tasks > .finished'),
    lost: perhapsDeleted,
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
  change(form.action, {
    rows: row ? [form, row] : [form],
    lost: lostAnswer,
    as: finished === '0' ? 'open' : finished === '1' ? 'finished' : 'sent',
    request: () => request,
    done: () => say(pathname.endsWith('/restore') ? 'Restored' : 'Undone', title),
    failed(failure: Failure) {
      // Somebody else has undone it or changed the task.
      if (/404|412/.test(`${failure.status}`)) form.remove();
      report(failure);
    },
  });
}

/** Undoes the last change if the notice offers it. A change under way comes first. */
export const undo = () =>
  enqueue(() => document.querySelector<HTMLFormElement>('#notice form')?.requestSubmit());
