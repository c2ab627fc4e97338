import { drop, turn } from './ahead.js';
import { change, showFailure } from './change.js';
import { say, takeNotice } from './notice.js';

/**
 * What was done on this page and can be undone, the last one last. A deletion knows its removal once it has happened.
 *
 * @typedef {{ undo: () => void, title?: string | undefined, removal?: string | undefined }} Action
 * @type {Action[]}
 */
const actions = [];

/** Takes back what was done last. Returns whether there was something. */
export function undo() {
  const last = actions.pop();
  last?.undo();
  return Boolean(last);
}

/** Finishes or reopens a task. @param {Element} task */
export function toggle(task) {
  const finished = !task.matches('.finished');
  const title = titleOf(task);
  const turnTo = (/** @type {boolean} */ state) =>
    change(`/task/${task.id.slice(5)}/${state ? 'finish' : 'unfinish'}`, () => ({}), {
      done: () => say(state ? 'Finished' : 'Reopened', title),
      // On a slow connection a task may be finished, reopened and finished again.
      key: {},
      act: turn(task.id, state),
    });
  actions.push({ undo: () => turnTo(!finished) });
  turnTo(finished);
}

/** @param {Element | null} task */
const titleOf = (task) => task?.querySelector('.title')?.textContent ?? undefined;

/**
 * Deletes a task or clears the finished ones, or undoes that.
 *
 * @param {HTMLFormElement} form
 * @param {HTMLButtonElement} button
 */
export function press(form, button) {
  const data = new FormData(form, button);
  const removal = data.get('removal');
  if (removal) return pressUndo(`${removal}`);
  const task = button.closest('li');
  /** @type {Action} */
  const action = { title: titleOf(task), undo: () => restore(action) };
  change(
    button.hasAttribute('formaction') ? button.formAction : form.action,
    () => ({ method: 'POST', body: new URLSearchParams(/** @type {any} */ (data)) }),
    {
      act: drop(task ? `#${task.id}` : '.finished'),
      done(page) {
        takeNotice(page);
        action.removal = removalOffered()?.value;
        // The button is gone now.
        if (!task) focusRow();
      },
      failed(failure) {
        actions.splice(actions.indexOf(action), 1);
        return showFailure(failure);
      },
    },
  );
  actions.push(action);
}

/** Gives the focus to the first task, or to Undo: in the field Ctrl+Z would be the browser's. */
export function focusRow() {
  const row = document.querySelector('.tasks > li') ?? document.querySelector('#notice button');
  /** @type {HTMLElement | null} */ (row)?.focus({ preventScroll: true });
}

/** The removal that the notice offers to undo. @returns {HTMLInputElement | null} */
const removalOffered = () => document.querySelector('#notice [name=removal]');

/** @param {string} removal */
function pressUndo(removal) {
  const title = document.querySelector('#notice bdi')?.textContent ?? undefined;
  const known = actions.findIndex((action) => action.removal === removal);
  const [action = { title, removal, undo() {} }] = known < 0 ? [] : actions.splice(known, 1);
  restore(action);
}

/** @param {Action} action */
function restore(action) {
  const token = /** @type {HTMLInputElement} */ (document.querySelector('#change [name=_csrf]'));
  const request = () => {
    const { removal } = action;
    if (!removal) return undefined;
    return { method: 'POST', body: new URLSearchParams({ _csrf: token.value, removal }) };
  };
  change('/tasks/restore', request, {
    key: action,
    done() {
      say('Restored', action.title);
      // The button is gone now.
      if (document.activeElement === document.body) document.getElementById('title')?.focus();
    },
  });
}
