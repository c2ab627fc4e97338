import { claim } from './calm.js';
import { change, enqueue } from './change.js';
import { isElsewhere } from './differences.js';
import { make, putBelow, textOf } from './dom.js';
import { drafts, dropDraft, fill, restoreDraft, storeDraft } from './drafts.js';
import { keepFocus, leave } from './focus.js';
import { explain, fieldOf, formOf, isLocked, refuse, renew } from './form.js';
import { guardMoves } from './moves.js';
import { say } from './notice.js';
import { failureOf, load, newKey, post } from './request.js';
import { local } from './times.js';

/** Opens a row's edit form. */
export function edit(row: HTMLElement, focus = true) {
  for (const menu of row.querySelectorAll('details')) menu.open = false;
  const form = formOf('edit', row.id.slice(5));
  const { revision, when = '' } = row.dataset;
  const text = textOf(row);
  const was = Object.fromEntries(Object.entries(text).map(([name, value]) => [`was.${name}`, value]));
  fill(form, { ...text, ...was, revision });
  form.append(make('p', { className: 'when', textContent: when.replace(/\d[^ ,]*/g, local) }));
  row.append(form);
  row.classList.add('editing');
  restoreDraft(form);
  if (focus) fieldOf(form).focus();
  return form;
}

/** Saves an edited row. The form is locked until the response arrives. */
export function saveEdit(form: HTMLFormElement) {
  const field = fieldOf(form);
  if (isLocked(form)) return;
  const row = form.closest('li') as HTMLElement;
  const { action } = form;
  storeDraft(form);
  lock(form, true);
  explain(form, '');
  change({
    rows: [row],
    request() {
      // The task was deleted meanwhile. The user decides whether to add it again.
      if (form.action !== action) {
        lock(form, false);
        return undefined;
      }
      return { url: action, init: post(new FormData(form), newKey()) };
    },
    saved(page) {
      const title = field.value.trim();
      const isEdit = form.querySelector('[name=revision]') !== null;
      if (isEdit) say('Saved', title);
      else say('Added', title, { textContent: 'Show', href: '/#list' });
      endEdit(row);
      if (!isEdit || !document.querySelector('.found')) return;
      // The search no longer finds it.
      if (!page.getElementById(row.id) && !isElsewhere(row, page)) leaveList(row);
    },
    failed(failure) {
      lock(form, false);
      refuse(form, failure);
    },
  });
}

function leaveList(row: HTMLElement) {
  claim([row.id]);
  leave(row);
  row.remove();
  guardMoves({ isAnimated: true });
}

function lock(form: HTMLFormElement, isLocked: boolean) {
  for (const field of form.querySelectorAll('textarea')) field.readOnly = isLocked;
}

/** Closes the edit form and drops the draft. */
export function endEdit(row: HTMLElement) {
  const refocus = keepFocus();
  const form = row.querySelector('form') as HTMLFormElement;
  dropDraft(form);
  form.remove();
  row.classList.remove('editing');
  if (!row.firstElementChild) row.remove();
  refocus();
}

/** Shows the draft of a task that left the list. The form adds a deleted task again. */
function editGone(id: string) {
  const row = make('li', { id: `task-${id}`, tabIndex: -1 });
  putBelow(document, row, []);
  const form = edit(row);
  enqueue(async () => {
    const failure = await load(`/tasks/${id}/edit`).then(() => undefined, failureOf);
    if (failure?.kind !== 'gone') return;
    renew(form, await load(`/tasks/new${location.search}`));
    restoreDraft(form);
    explain(form, 'This task was deleted. Add saves it as a new task.');
  });
}

/** Turns the Add form of a deleted task into an edit form after somebody has restored the task. */
export function editRestored() {
  for (const form of document.querySelectorAll<HTMLFormElement>('.tasks > :not(.editing) > .write')) {
    const page = make('div', {});
    page.append(edit(form.parentElement as HTMLElement, false));
    renew(form, page);
    explain(form, '');
  }
}

export function restoreEdits() {
  for (const place of Object.keys(drafts())) {
    const [, id] = /^\/tasks\/(\d+)$/.exec(place) ?? [];
    if (!id) continue;
    const row = document.getElementById(`task-${id}`);
    if (row) edit(row);
    else editGone(id);
  }
}
