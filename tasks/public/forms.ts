import { change, enqueue, type Failure, formOf, load, post, report } from './change.js';
import { drafts, fieldOf, fill, restoreDraft, single, storeDraft } from './drafts.js';
import { offerFocus } from './focus.js';
import { rowsOf } from './morph.js';
import { make, say } from './notice.js';
import { countLines, countTasks, linesAdded, offerLines } from './paste.js';
import { lostAnswer, titleOf } from './rows.js';
import { localise } from './times.js';

/** What was sent to be added and has no response yet, in order. */
let unanswered: { text: string }[] = [];

/** What is typed in a form, below the texts that are still being added. */
function unsaved(form: HTMLFormElement) {
  const texts = form === single ? unanswered.map(({ text }) => text) : [];
  return [...texts, fieldOf(form).value].filter(Boolean).join('\n');
}

export const keepDraft = (form: HTMLFormElement) => storeDraft(form, unsaved(form));

/** Shows `text` in the field above the list, which has several lines if the text has. */
function showUnsaved(text: string) {
  const field = fieldOf(single);
  const area = document.createElement('textarea');
  if (text.includes('\n') && field.type === 'text') {
    for (const { name, value } of field.attributes) area.setAttribute(name, value);
    const focused = field === document.activeElement;
    field.replaceWith(area);
    if (focused) area.focus();
  }
  fieldOf(single).value = text;
  countTasks(single);
}

/**
 * Sends the form above the list, a task for each line. The field is empty at once and takes the next task. After a
 * failure it has all that is not saved again, with the reason.
 */
export function add() {
  const { value } = fieldOf(single);
  // A blank line alone gets the reason from the server.
  const texts = countLines(value) > 1 ? value.split('\n').filter((line) => line.trim()) : [value];
  explain(single, '');
  showUnsaved('');
  for (const text of texts) {
    const sent = { text };
    unanswered.push(sent);
    change(single.action, {
      request() {
        // One before this one failed.
        if (!unanswered.includes(sent)) return undefined;
        const data = new FormData(single);
        data.set('title', text);
        return post(data);
      },
      done(page) {
        say('Added', text.trim());
        unanswered.shift();
        renew(single, page);
        keepDraft(single);
      },
      failed(failure) {
        showUnsaved(unsaved(single));
        unanswered = [];
        refuse(single, failure);
      },
    });
  }
}

/** Sends a form that edits a task in its row, or adds several tasks. It is locked until the response comes. */
export function save(form: HTMLFormElement) {
  const field = fieldOf(form);
  if (field.readOnly) return;
  const row = form.closest('li');
  field.readOnly = true;
  explain(form, '');
  change(form.action, {
    lost: row ? lostAnswer : undefined,
    request: () => post(new FormData(form)),
    done() {
      if (!row) return linesAdded(form, field.value);
      say(form.querySelector('[name=revision]') ? 'Saved' : 'Added', field.value.trim());
      endEdit(row);
    },
    failed(failure) {
      field.readOnly = false;
      refuse(form, failure);
    },
  });
}

function refuse(form: HTMLFormElement, failure: Failure) {
  if (failure.page) renew(form, failure.page);
  explain(form, failure.message);
  if (failure.status === 401) report(failure);
}

/** Makes a form send what the one on `page` would: an edit of a task that is gone becomes a new task, for example. */
function renew(form: HTMLFormElement, page: ParentNode) {
  const fresh = page.querySelector<HTMLFormElement>('form.write');
  if (!fresh || form.matches('.lines')) return;
  for (const old of form.querySelectorAll('[type=hidden]')) old.remove();
  form.prepend(...fresh.querySelectorAll('[type=hidden]'));
  form.action = fresh.action;
  if (form !== single) form.querySelector('.main')?.replaceWith(fresh.querySelector('.main') as Element);
}

/** Shows what is wrong with a form next to its field; an empty `problem` removes that. */
export function explain(form: HTMLFormElement, problem: string) {
  const field = fieldOf(form);
  const id = `${field.id}-problem`;
  form.querySelector('.problem')?.remove();
  field.removeAttribute('aria-invalid');
  field.removeAttribute('aria-describedby');
  if (!problem) return;
  form.append(make('p', { id, className: 'problem', role: 'alert', textContent: problem }));
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-describedby', id);
  offerFocus(field);
}

/** What a row holds while it is not edited. */
const contents = new WeakMap<Element, Node[]>();

/** Shows a form in the row, with what was typed before a reload. */
function showForm(row: HTMLElement, id: string) {
  const form = formOf('edit', id);
  const { revision, added, finished, reopened } = row.dataset;
  fill(form, { title: titleOf(row), was: titleOf(row), revision });
  const age = form.querySelector('.when') as Element;
  for (const [textContent, dateTime] of Object.entries({ added, finished, reopened })) {
    if (!dateTime) continue;
    age.append(age.textContent && ', ', make('span', { textContent }), ' ', make('time', { dateTime }));
  }
  localise(age);
  row.replaceChildren(form);
  row.classList.add('editing');
  restoreDraft(form);
  const field = fieldOf(form);
  offerFocus(field);
  field.setSelectionRange(field.value.length, field.value.length);
  return form;
}

/** Shows a form in the place of the task, from what the page knows. */
export function edit(row: HTMLElement) {
  for (const menu of row.querySelectorAll('details')) menu.open = false;
  contents.set(row, [...row.childNodes]);
  // The rows below stay where they are.
  row.style.minBlockSize = `${row.getBoundingClientRect().height}px`;
  showForm(row, row.id.slice(5));
}

/** Shows the edit of a task that the list does not show any more. If the task is deleted, the form adds it anew. */
function editGone(id: string) {
  const row = make('li', { id: `task-${id}` });
  rowsOf(document).prepend(row);
  const form = showForm(row, id);
  enqueue(async () => {
    const { status } = await load(`/tasks/${id}/edit`).catch((failure) => failure);
    if (status !== 404) return;
    renew(form, await load('/tasks/new'));
    explain(form, 'This task was deleted. Add makes it a new task.');
  });
}

/** Shows the task again, and drops what was typed. */
export function endEdit(row: HTMLElement) {
  const focused = row.contains(document.activeElement);
  storeDraft(row.querySelector('form') as HTMLFormElement);
  const content = contents.get(row);
  if (!content) return row.remove();
  row.classList.remove('editing');
  row.removeAttribute('style');
  row.replaceChildren(...content);
  if (focused) row.querySelector<HTMLElement>('.edit')?.focus({ preventScroll: true });
}

/** Fills in what was typed before a reload, or before Back led here. */
export function restoreDrafts() {
  showUnsaved(drafts()['/task']?.title ?? '');
  restoreDraft(single);
  for (const place of Object.keys(drafts())) {
    const [, id = ''] = /^\/tasks\/(\d+)$/.exec(place) ?? [];
    const row = document.getElementById(`task-${id}`);
    if (row) edit(row);
    else if (id) editGone(id);
    if (place === 'lines') offerLines('');
  }
}
