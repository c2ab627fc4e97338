import { localise } from './times.js';

// What people did shows before the server has confirmed it: each function does to a copy of the list what the server will.

/**
 * Finishes or reopens a task.
 *
 * @param {string} id of its row
 * @param {boolean} finished
 * @returns {(list: HTMLElement) => void}
 */
export function turn(id, finished) {
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
 * @param {string} selector of their rows
 * @returns {(list: HTMLElement) => void}
 */
export const drop = (selector) => (list) => {
  for (const task of list.querySelectorAll(selector)) task.remove();
};

/** Gives a row the looks and the link of its new state. @param {Element} task @param {boolean} finished @param {string} now */
function dress(task, finished, now) {
  const link = /** @type {HTMLAnchorElement} */ (task.querySelector('.toggle'));
  const title = /** @type {HTMLElement} */ (task.querySelector('.title'));
  const time = /** @type {HTMLTimeElement} */ (task.querySelector('time'));
  const word = finished ? 'Reopen' : 'Finish';
  task.classList.toggle('finished', finished);
  task.setAttribute('data-ahead', '');
  link.setAttribute('href', `/task/${task.id.slice(5)}/${finished ? 'unfinish' : 'finish'}${link.search}`);
  link.title = word;
  link.ariaLabel = `${word}: ${title.textContent}`;
  /** @type {Element} */ (link.firstElementChild).textContent = word;
  /** @type {Element} */ (time.previousElementSibling).textContent = finished ? 'finished' : 'reopened';
  time.dateTime = now;
  localise(task);
}

/** Moves a row to its place: open tasks first, then the newest first. @param {Element} task @param {HTMLElement} list */
function move(task, list) {
  const tasks = /** @type {Element} */ (task.parentElement);
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

/** @param {Element} task */
const place = ({ id, classList }) => Number(id.slice(5)) - (classList.contains('finished') ? 2 ** 52 : 0);
