import { bring } from './calm.js';
import { change } from './change.js';
import { rows, stateOf, textOf } from './dom.js';
import { leave } from './focus.js';
import { waiting } from './kept.js';
import { focusList, report, say } from './notice.js';
import { type Failure, loggedOut, notSent, post } from './request.js';
import { hasSession } from './stream.js';
import { sendSoon, sendTick } from './waiting.js';

/** The rows of this user's last deletion, which Undo brings back. */
let deleted: string[] = [];

/** The forms of Undo that were sent. */
const sent = new WeakSet<HTMLFormElement>();

/** What an Undo takes back. */
type Undone = 'deletion' | 'addition' | 'finish' | 'reopen' | 'edit';

/** Finishes or reopens a task. */
export function toggle(row: HTMLElement) {
  const finished = stateOf(row) === 'finished' ? 0 : 1;
  void sendTick({
    key: row.id.replace('task-', ''),
    title: textOf(row).title ?? '',
    finished,
    rows: [row],
    request() {
      const action = finished ? 'finish' : 'unfinish';
      const { href, search } = row.querySelector('.toggle') as HTMLAnchorElement;
      return { url: new URL(action + search, href).href, init: { method: 'GET' } };
    },
  });
}

/** Deletes a task, or clears finished tasks, after the ticks that wait. */
export function press(form: HTMLFormElement, button: HTMLButtonElement | null) {
  const row = button?.closest<HTMLElement>('.tasks > li');
  const going = row ? [row] : rows().filter((each) => stateOf(each) === 'finished');
  if (row) leave(row);
  sendSoon();
  change({
    rows: going,
    as: 'gone',
    request() {
      // The server could not find the task of a tick, or would clear a task that the user has reopened.
      const hasTicks = waiting().some(({ finished }) => finished !== undefined);
      if (hasTicks && !hasSession()) loggedOut();
      if (hasTicks) notSent();
      const data = new FormData(form);
      // By now, the row may have left the list, and its button the form.
      if (button?.name) data.set(button.name, button.value);
      return { url: button?.getAttribute('formaction') ?? form.action, init: post(data) };
    },
    saved() {
      deleted = going.map(({ id }) => id);
    },
  });
}

/** Undoes the change in the notice. Undo of a tick is a tick, so it is not lost either. */
export function undoChange(form: HTMLFormElement) {
  if (sent.has(form)) return;
  sent.add(form);
  const { action } = form;
  const data = new FormData(form);
  const undone = undoneBy(action, data);
  const title = form.closest('#notice')?.querySelector('bdi')?.textContent;
  focusList();
  const undo = {
    rows: undone === 'deletion' ? [] : rowsAt(data.get('revision')),
    request: () => ({ url: action, init: post(data) }),
    saved() {
      bring(broughtBy(undone, action));
      say(undone === 'deletion' ? 'Restored' : 'Undone', title);
    },
    failed(failure: Failure) {
      sent.delete(form);
      // Somebody else has undone the change, or changed the task.
      if (failure.kind === 'gone' || failure.kind === 'conflict') form.remove();
    },
  };
  if (undone === 'finish' || undone === 'reopen') {
    void sendTick({
      ...undo,
      key: new URL(action).pathname.replace('/tasks/', ''),
      title: title ?? '',
      finished: undone === 'reopen' ? 1 : 0,
    });
    return;
  }
  change({
    ...undo,
    as: undone === 'addition' ? 'gone' : undefined,
    failed(failure) {
      undo.failed(failure);
      report(failure);
    },
  });
}

/** Returns what a form of Undo takes back, by its address and the state in its field `finished`. */
function undoneBy(action: string, data: FormData): Undone {
  const { pathname } = new URL(action);
  if (pathname === '/tasks/restore') return 'deletion';
  if (pathname === '/tasks/added') return 'addition';
  const restored = data.get('finished');
  if (restored === null) return 'edit';
  return restored === '0' ? 'finish' : 'reopen';
}

/** Returns the rows of one change, whose tasks share its revision. Undo keeps a task that somebody has changed since. */
function rowsAt(revision: FormDataEntryValue | null) {
  return rows().filter(({ dataset }) => dataset.revision === revision);
}

/** Returns the IDs of the rows that an Undo brings back or changes. */
function broughtBy(undone: Undone, action: string): string[] {
  if (undone === 'deletion') return deleted;
  if (undone === 'addition') return [];
  return [new URL(action).pathname.replace('/tasks/', 'task-')];
}
