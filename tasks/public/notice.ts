import { list, make, rows, stateOf } from './dom.js';
import type { Failure } from './request.js';

const notice = document.getElementById('notice') as HTMLElement;
// The notice moves when the focus leaves a menu or a form (see style.css), and would miss the click.
notice.onmousedown = (event) => {
  if (document.querySelector(':is(.lines, .editing, [open]) :focus')) event.preventDefault();
};

/** What an error is about: tasks, the field of a form, or the connection, which the next event mends. */
interface About {
  /** When it was shown (milliseconds since 1970). */
  at?: number;
  tasks?: Failure['tasks'];
  /** The state that the tasks have if their change was made after all. */
  as?: Failure['as'];
  field?: string;
  isPassing?: boolean;
}

const recentlyDeleted = { href: '/tasks/removals', textContent: 'Recently deleted' };

const complaints = new Map<HTMLElement, About>();

/** Moves the focus from the notice to the list, before its control goes. */
export function focusList() {
  if (notice.contains(document.activeElement)) list().focus({ preventScroll: true });
}

/** Shows and announces a message (live region), below error messages. Isolates the title's text direction. */
export function say(text: string, title?: string, link?: Partial<HTMLAnchorElement>) {
  const said = make('span', { textContent: text });
  if (title !== undefined) said.append(': ', make('bdi', { textContent: title, translate: false }));
  const [changes] = notice.querySelectorAll('.changes');
  notice.replaceChildren(...[...complaints.keys()].toReversed(), said);
  if (link) notice.append(' ', make('a', link));
  if (changes) notice.append(changes);
}

/** Whether the notice offers to undo the user's last change. */
export const offersUndo = () => notice.querySelector(':scope > form') !== null;

/** Takes back a message that is no longer true. */
export function unsay(text: string) {
  if (notice.querySelector(':scope > span')?.textContent === text) say('');
}

/** Shows an error until the user closes it, or a change mends it. Keeps Undo. */
export function complain(text: string, about: About = {}, link?: Partial<HTMLAnchorElement>) {
  for (const old of complaints.keys()) if (old.firstChild?.textContent === text) drop(old);
  const complaint = make('p', { className: 'complaint' });
  const onclick = () => {
    focusList();
    drop(complaint);
  };
  complaint.append(make('span', { textContent: text }), ' ');
  if (link) complaint.append(make('a', link), ' ');
  complaint.append(make('button', { textContent: 'Close', onclick }));
  if (!offersUndo()) say('');
  notice.prepend(complaint);
  complaints.set(complaint, { at: Date.now(), ...about });
}

function drop(complaint: HTMLElement) {
  complaint.remove();
  complaints.delete(complaint);
}

function dropIf(isMended: (about: About) => boolean) {
  for (const [complaint, about] of complaints) if (isMended(about)) drop(complaint);
}

/** Drops the errors about changed tasks, and errors about no task. */
export const endComplaints = (changed: string[]) =>
  dropIf(({ tasks = [], field }) => {
    return field === undefined && (tasks.length === 0 || tasks.some(({ id }) => changed.includes(id)));
  });

export const endFieldComplaint = (id: string) => dropIf(({ field }) => field === id);

/** Milliseconds in which everybody can read an error. */
export const readingTime = 4_000;

/** Drops the errors about the connection, unless they are new. The next event of the server, 5 s later, drops those. */
export const endPassingComplaints = () =>
  dropIf(({ isPassing = false, at = 0 }) => isPassing && at < Date.now() - readingTime);

/** Shows a failure with its tasks and a useful link. Logs a script error. */
export function report(failure: Failure) {
  const { kind, tasks, message, mayHaveHappened, as, cause } = failure;
  if (kind === 'script error') console.error(cause);
  if (kind === 'logged out') {
    dispatchEvent(new Event('loggedout'));
    return;
  }
  const mayBeGone = as === 'gone' && mayHaveHappened;
  const text = kind === 'no answer' && mayBeGone ? 'No answer. It may be deleted.' : message;
  const link = mayBeGone ? recentlyDeleted : undefined;
  const about: About = { tasks };
  if (mayHaveHappened) about.as = as;
  if (failure.wasNotSent) about.isPassing = true;
  complain(`${namesOf(failure)}${text}`, about, link);
}

/** Whether the list shows the tasks as their change leaves them. A task can also have left the list. */
function isMade({ tasks = [], as }: About) {
  if (as === undefined || tasks.length === 0) return false;
  return tasks.every(({ id }) => {
    const row = rows().find((each) => each.id === id);
    return !row || stateOf(row) === as;
  });
}

/** Says what the list alone does not tell about a change that was made after all: how to take it back. */
function tellMade({ tasks = [], as }: About) {
  if (as === 'gone') say('Deleted', titlesOf(tasks), recentlyDeleted);
}

addEventListener('listshown', () => {
  for (const [complaint, about] of complaints) {
    if (!isMade(about)) continue;
    drop(complaint);
    tellMade(about);
  }
});

/** The titles of the tasks, to begin a message. The message of a conflict already has the current title. */
function namesOf({ kind, tasks }: Failure) {
  if (tasks.length === 0 || kind === 'conflict' || kind === 'script error') return '';
  return `\u2068${titlesOf(tasks)}\u2069: `;
}

const titlesOf = (tasks: Failure['tasks']) =>
  tasks
    .map(({ title }) => title)
    .join(', ')
    .replace(/^(.{60}).+/su, '$1…');

/** Announces changes by other users, unless the notice has a link or a button. Shows a link beside errors and Undo. */
export function mention(text: string, link?: Partial<HTMLAnchorElement>) {
  const undo = notice.querySelector(':scope > form');
  if (link && undo && !notice.querySelector(':scope > a')) undo.after(' ', make('a', link));
  else if (!notice.querySelector(link ? ':scope > :is(a, form)' : 'a, button')) say(text, undefined, link);
}

/** Offers to show what others have changed, or no longer if the count is 0. */
export function offerChanges(count: number, show = () => {}) {
  const old = notice.querySelector('.changes');
  if (count === 0) {
    if (old?.contains(document.activeElement)) focusList();
    old?.remove();
    return;
  }
  const text = count === 1 ? '1 change. ' : `${count} changes. `;
  if (old?.firstChild?.textContent === text) return;
  const changes = make('p', { className: 'changes', textContent: text });
  changes.append(make('button', { textContent: 'Show', onclick: show }));
  if (old) old.replaceWith(changes);
  else notice.append(changes);
}
