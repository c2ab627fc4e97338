import { claim } from './calm.js';
import { change } from './change.js';
import { rows, stateOf } from './dom.js';
import { leave } from './focus.js';
import { focusList, report, say } from './notice.js';
import { post } from './request.js';
import { tick } from './waiting.js';

/** The rows of this user's last deletion, which Undo brings back. */
let deleted: string[] = [];

/** The forms of Undo that were sent. */
const sent = new WeakSet<HTMLFormElement>();

/** Finishes or reopens a task. */
export function toggle(row: HTMLElement) {
  const [as, action] =
    stateOf(row) === 'finished' ? (['open', 'unfinish'] as const) : (['finished', 'finish'] as const);
  const { confirmed, failed } = tick(row, as === 'finished' ? 1 : 0);
  change({
    rows: [row],
    as,
    request() {
      const { href, search } = row.querySelector('.toggle') as HTMLAnchorElement;
      return { url: new URL(action + search, href).href, init: { method: 'GET' } };
    },
    saved: confirmed,
    failed(failure) {
      const waits = failed(failure);
      if (!waits || failure.kind === 'logged out') report(failure);
    },
  });
}

/** Deletes a task, or clears finished tasks. */
export function press(form: HTMLFormElement, button: HTMLElement | null) {
  const row = button?.closest<HTMLElement>('.tasks > li');
  const going = row ? [row] : rows().filter((each) => stateOf(each) === 'finished');
  if (row) leave(row);
  change({
    rows: going,
    as: 'gone',
    request: () => ({
      url: button?.getAttribute('formaction') ?? form.action,
      init: post(new FormData(form, button)),
    }),
    saved() {
      deleted = going.map(({ id }) => id);
    },
  });
}

/** Undoes the change in the notice. */
export function undoChange(form: HTMLFormElement) {
  if (sent.has(form)) return;
  sent.add(form);
  const { action } = form;
  const data = new FormData(form);
  const isRestore = action.includes('/restore');
  const id = new URL(action).pathname.replace('/tasks/', 'task-');
  const row = document.getElementById(id);
  const title = form.closest('#notice')?.querySelector('bdi')?.textContent;
  focusList();
  change({
    rows: row ? [row] : [],
    as: data.get('finished') === '0' ? 'open' : data.get('finished') === '1' ? 'finished' : undefined,
    request: () => ({ url: action, init: post(data) }),
    saved() {
      claim(isRestore ? deleted : [id]);
      say(isRestore ? 'Restored' : 'Undone', title);
    },
    failed(failure) {
      sent.delete(form);
      // Somebody else has undone the change, or changed the task.
      if (failure.kind === 'gone' || failure.kind === 'conflict') form.remove();
      report(failure);
    },
  });
}
