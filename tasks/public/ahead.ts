import type { Act } from './swap.ts';
import { localise } from './times.ts';

// What people did shows before the server has confirmed it.

/**
 * Finishes or reopens a task.
 *
 * @param id of its row
 */
export function turn(id: string, finished: boolean): Act {
  const now = new Date().toISOString();
  return (list) => {
    const task = list.querySelector(`#${id}`);
    if (!task) return;
    dress(task, finished, now);
    move(task, list);
  };
}

/**
 * Deletes tasks.
 *
 * @param selector of their rows
 */
export function drop(selector: string): Act {
  return (list) => {
    for (const task of list.querySelectorAll(selector)) task.remove();
  };
}

/** Gives a row the looks and the link of its new state. */
function dress(task: Element, finished: boolean, now: string) {
  const link = task.querySelector('.toggle') as HTMLAnchorElement;
  const title = task.querySelector('.title') as HTMLElement;
  const time = task.querySelector('time') as HTMLTimeElement;
  const word = finished ? 'Reopen' : 'Finish';
  task.classList.toggle('finished', finished);
  task.setAttribute('data-ahead', '');
  link.setAttribute('href', `/task/${task.id.slice(5)}/${finished ? 'unfinish' : 'finish'}${link.search}`);
  link.title = word;
  link.ariaLabel = `${word}: ${title.textContent}`;
  (link.firstElementChild as Element).textContent = word;
  (time.previousElementSibling as Element).textContent = finished ? 'finished' : 'reopened';
  time.dateTime = now;
  localise(task);
}

/** Moves a row to its place: open tasks first, then the newest first. */
function move(task: Element, list: HTMLElement) {
  const tasks = task.parentElement as Element;
  const shown = new URLSearchParams(location.search);
  const filter = shown.get('filter') ?? 'all';
  const state = task.matches('.finished') ? 'finished' : 'open';
  task.remove();
  if (filter !== 'all' && filter !== state) return;
  const next = [...tasks.children].find((other) => place(other) < place(task));
  // As the first or the last of a page it may belong on another one.
  const elsewhere = next ? !next.previousSibling && shown.has('after') : list.querySelector('[rel=next]');
  if (!elsewhere) tasks.insertBefore(task, next ?? null);
}

const place = ({ id, classList }: Element) =>
  Number(id.slice(5)) - (classList.contains('finished') ? 2 ** 52 : 0);
