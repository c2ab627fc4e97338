import { change, enqueue, load, post, report } from './change.js';
import { drafts, restoreDraft, storeDraft } from './drafts.js';
import { offerFocus } from './focus.js';
import { say } from './notice.js';
import { linesAdded, offerLines } from './paste.js';
import { localise } from './times.js';

type Field = HTMLInputElement | HTMLTextAreaElement;

const title = document.getElementById('title') as HTMLInputElement;

const fieldOf = (form: HTMLFormElement) => form.querySelector('[autofocus]') as Field;

/** What was sent to be added and is not answered, in order. */
let unanswered: { text: string }[] = [];

/** What is typed in a form, behind the text of what is still being added. */
function unsaved(field: Field) {
  const texts = field === title ? unanswered.map(({ text }) => text) : [];
  return [...texts, field.value].filter(Boolean).join(' ');
}

export const keepDraft = (form: HTMLFormElement) => storeDraft(form, unsaved(fieldOf(form)));

/**
 * Sends a form that adds tasks, or one that edits a task in its row. The field above the list is empty at once, and takes
 * the next task; others are locked meanwhile. After a failure all that is not saved is in the field again, with the reason.
 */
export function write(form: HTMLFormElement) {
  const field = fieldOf(form);
  if (field.readOnly) return;
  const row = form.closest('li');
  // Only a list has lines.
  const sent = { text: field.name === 'text' ? field.value : field.value.replaceAll('\n', ' ') };
  const adding = field === title;
  explain(form, '');
  if (adding) {
    unanswered.push(sent);
    field.value = '';
  } else field.readOnly = true;

  change(form.action, {
    request() {
      // One before this one failed.
      if (adding && !unanswered.includes(sent)) return undefined;
      const data = new FormData(form);
      data.set(field.name, sent.text);
      return post(data);
    },
    done(page) {
      if (form.matches('.lines')) return linesAdded(form, sent.text);
      say(form.querySelector('[name=revision]') ? 'Saved' : 'Added', sent.text.trim());
      if (row) return endEdit(row);
      unanswered.shift();
      keepDraft(form);
      renew(form, page);
    },
    failed(failure) {
      if (adding) {
        field.value = unsaved(field);
        unanswered = [];
      }
      field.readOnly = false;
      if (failure.page) renew(form, failure.page);
      explain(form, failure.message);
      if (failure.status === 401) report(failure);
    },
  });
}

/** Makes a form send what the one on `page` would: an edit of a task that is gone becomes a new task, for example. */
function renew(form: HTMLFormElement, page: Document) {
  const fresh = page.querySelector<HTMLFormElement>('form.write');
  if (!fresh || form.matches('.lines')) return;
  for (const old of form.querySelectorAll('[type=hidden]')) old.remove();
  form.prepend(...fresh.querySelectorAll('[type=hidden]'));
  form.action = fresh.action;
  (form.querySelector('.main') as Element).textContent = fresh.querySelector('.main')?.textContent ?? '';
}

/** Shows what is wrong with a form next to its field; an empty `problem` removes that. */
export function explain(form: HTMLFormElement, problem: string) {
  const field = fieldOf(form);
  const id = `${field.id}-problem`;
  form.querySelector('.problem')?.remove();
  field.removeAttribute('aria-invalid');
  field.removeAttribute('aria-describedby');
  if (!problem) return;
  const words = { id, className: 'problem', role: 'alert', textContent: problem };
  form.append(Object.assign(document.createElement('p'), words));
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-describedby', id);
  offerFocus(field);
}

/** Puts a field that shows a long title whole in the place of the one for a single line. Enter saves in it all the same. */
function wrapTitle(form: HTMLFormElement) {
  const field = fieldOf(form);
  const area = document.createElement('textarea');
  for (const { name, value } of field.attributes) area.setAttribute(name, value);
  area.rows = 1;
  area.value = field.value;
  area.onkeydown = (event) => {
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  };
  field.replaceWith(area);
}

/** What a row holds while it is not edited. */
const contents = new WeakMap<Element, Node[]>();

/** Puts the form of the task's edit page into its row, with what was typed before a reload. */
export function edit(row: HTMLElement) {
  const { href } = row.querySelector('.edit') as HTMLAnchorElement;
  enqueue(async () => {
    const form = (await load(href)).querySelector<HTMLFormElement>('form.write');
    // The list may have changed since the click.
    if (!form || !row.checkVisibility() || row.matches('.editing')) return;
    wrapTitle(form);
    localise(form);
    for (const menu of row.querySelectorAll('details')) menu.open = false;
    contents.set(row, [...row.childNodes]);
    // The rows below stay where they are.
    row.style.minBlockSize = `${row.getBoundingClientRect().height}px`;
    row.replaceChildren(form);
    row.classList.add('editing');
    restoreDraft(form);
    const field = fieldOf(form);
    offerFocus(field);
    field.setSelectionRange(field.value.length, field.value.length);
  });
}

/** Shows the task again, and drops what was typed. */
export function endEdit(row: HTMLElement) {
  const focused = row.contains(document.activeElement);
  storeDraft(row.querySelector('form') as HTMLFormElement);
  row.classList.remove('editing');
  row.removeAttribute('style');
  row.replaceChildren(...(contents.get(row) ?? []));
  if (focused) row.querySelector<HTMLElement>('.edit')?.focus({ preventScroll: true });
}

/** Fills in what was typed before a reload, or before Back led here. */
export function restoreDrafts() {
  const single = title.form as HTMLFormElement;
  restoreDraft(single);
  for (const [place, { text = '' }] of Object.entries(drafts())) {
    const row = document.querySelector<HTMLElement>(`li#task-${place.slice(7)}`);
    if (row) edit(row);
    if (place === 'lines') enqueue(() => offerLines(single, text));
  }
}
