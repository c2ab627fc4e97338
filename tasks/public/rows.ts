import { change, enqueue, post } from './change.js';
import { leave } from './focus.js';
import { say } from './notice.js';

const titleOf = (row: Element) => row.querySelector('.title')?.textContent ?? '';

/** Finishes or reopens a task. */
export function toggle(row: HTMLElement) {
  const { href, search } = row.querySelector('.toggle') as HTMLAnchorElement;
  // Not yet confirmed, or as the server has it.
  const was = row.dataset.pending ?? (row.matches('.finished') ? 'finished' : 'open');
  const [as, action, word] =
    was === 'finished' ? ['open', 'unfinish', 'Reopened'] : ['finished', 'finish', 'Finished'];
  change(new URL(action + search, href).href, {
    rows: [row],
    as,
    request: () => ({}),
    done: () => say(word, titleOf(row)),
  });
}

/** Presses a button: deletes a task, clears the finished ones, or takes back what the notice says was deleted. */
export function press(form: HTMLFormElement, button: HTMLElement | null) {
  const restoring = form.closest<HTMLElement>('#notice');
  const row = button?.closest<HTMLElement>('.tasks > li');
  if (form.dataset.pending) return;
  const request = post(new FormData(form, button));
  if (row) leave(row);
  change(button?.getAttribute('formaction') ?? form.action, {
    rows: restoring ? [form] : row ? [row] : document.querySelectorAll('.tasks > .finished'),
    as: restoring ? 'sent' : 'gone',
    request: () => request,
    done: () => restoring && say('Restored', restoring.querySelector('bdi')?.textContent),
  });
}

/** Takes back the last deletion, while the notice offers that. One that is under way is answered first. */
export const undo = () =>
  enqueue(async () => document.querySelector<HTMLFormElement>('#notice form')?.requestSubmit());
