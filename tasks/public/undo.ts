import { drop, turn } from './ahead.ts';
import { change, showFailure } from './change.ts';
import { say, takeNotice } from './notice.ts';

interface Action {
  undo: () => void;
  title?: string | undefined;
  /** What a deletion is called once it has happened. */
  removal?: string | undefined;
}

/** What was done on this page and can be undone, the last one last. */
const actions: Action[] = [];

/** Takes back what was done last. Returns whether there was something. */
export function undo() {
  const last = actions.pop();
  last?.undo();
  return Boolean(last);
}

/** Finishes or reopens a task. */
export function toggle(task: Element) {
  const finished = !task.matches('.finished');
  const title = titleOf(task);
  const turnTo = (state: boolean) =>
    change(`/task/${task.id.slice(5)}/${state ? 'finish' : 'unfinish'}`, {
      request: () => ({}),
      done: () => say(state ? 'Finished' : 'Reopened', title),
      // On a slow connection a task may be finished, reopened and finished again.
      key: {},
      act: turn(task.id, state),
    });
  actions.push({ undo: () => turnTo(!finished) });
  turnTo(finished);
}

const titleOf = (task: Element | null) => task?.querySelector('.title')?.textContent ?? undefined;

/** Deletes a task or clears the finished ones, or undoes that. */
export function press(form: HTMLFormElement, button: HTMLButtonElement) {
  const data = new FormData(form, button);
  const removal = data.get('removal');
  if (removal) return pressUndo(`${removal}`);
  const task = button.closest('li');
  const action: Action = { title: titleOf(task), undo: () => restore(action) };
  const body = new URLSearchParams(Object.fromEntries(data) as Record<string, string>);
  change(button.hasAttribute('formaction') ? button.formAction : form.action, {
    request: () => ({ method: 'POST', body }),
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
  });
  actions.push(action);
}

/** Gives the focus to the first task, or to Undo: in the field Ctrl+Z would be the browser's. */
export function focusRow() {
  const row = document.querySelector('.tasks > li') ?? document.querySelector('#notice button');
  (row as HTMLElement | null)?.focus({ preventScroll: true });
}

/** The removal that the notice offers to undo. */
const removalOffered = () => document.querySelector<HTMLInputElement>('#notice [name=removal]');

function pressUndo(removal: string) {
  const title = document.querySelector('#notice bdi')?.textContent ?? undefined;
  const known = actions.findIndex((action) => action.removal === removal);
  const [action = { title, removal, undo() {} }] = known < 0 ? [] : actions.splice(known, 1);
  restore(action);
}

function restore(action: Action) {
  const token = document.querySelector('#change [name=_csrf]') as HTMLInputElement;
  change('/tasks/restore', {
    key: action,
    request() {
      const { removal } = action;
      if (!removal) return undefined;
      return { method: 'POST', body: new URLSearchParams({ _csrf: token.value, removal }) };
    },
    done() {
      say('Restored', action.title);
      // The button is gone now.
      if (document.activeElement === document.body) document.getElementById('title')?.focus();
    },
  });
}
