import { change, enqueue, type Failure, formOf, load, post, refresh, report } from './change.js';
import { drafts, fieldOf, fill, restoreDraft, settleSent, single, storeDraft } from './drafts.js';
import { keepFocus, rows } from './focus.js';
import { rowsOf, showReceived } from './morph.js';
import { complain, make, say } from './notice.js';
import { local } from './times.js';

// A text area can show several unsaved tasks.
const area = Object.assign(document.createElement('textarea'), { rows: 1, value: fieldOf(single).value });
for (const { name, value } of (fieldOf(single) as Element).attributes) area.setAttribute(name, value);
fieldOf(single).replaceWith(area);

/** Returns the non-blank lines, with spaces for tabs. */
export const linesOf = (text: string) =>
  text.split('\n').flatMap((line) => (line.trim() ? line.replaceAll('\t', ' ') : []));

const tasksIn = ({ length }: string[]) => `${length} ${length === 1 ? 'task' : 'tasks'}`;

/** Shows the number of tasks on the form's button. */
export function countTasks(form: HTMLFormElement) {
  const lines = linesOf(fieldOf(form).value);
  const several = form !== single || lines.length > 1;
  (form.querySelector('.main') as Element).textContent = several ? `Add ${tasksIn(lines)}` : 'Add';
}

/** New tasks without a response yet, oldest first. */
let pending: { text: string }[] = [];

/** Lines of a failed request, and the ids of the rows shown when it failed. The server may have added the tasks. */
let lost: { form: HTMLFormElement; lines: string[]; before: string[] } | undefined;

const unsaved = () => [...pending.map(({ text }) => text), fieldOf(single).value].filter(Boolean).join('\n');
export const keepDraft = (form: HTMLFormElement) =>
  storeDraft(form, form === single ? unsaved() : fieldOf(form).value);

function showUnsaved(text: string) {
  fieldOf(single).value = text;
  countTasks(single);
}

/** Adds a task for each line. Unsaved text returns to the field after a failure. */
export function add() {
  const { value } = fieldOf(single);
  // The server explains why it refuses a blank line.
  const texts = linesOf(value).length > 0 ? linesOf(value) : [value];
  lost = undefined;
  explain(single, '');
  showUnsaved('');
  // Keeps a phone's keyboard open after a tap on Add.
  fieldOf(single).focus();
  for (const text of texts) {
    const sent = { text };
    pending.push(sent);
    change(single.action, {
      request() {
        // An earlier task has failed.
        if (!pending.includes(sent)) return undefined;
        const data = new FormData(single);
        data.set('title', text);
        return post(data);
      },
      done(page) {
        say('Added', text.trim().normalize());
        pending.shift();
        renew(single, page);
        keepDraft(single);
      },
      failed(failure) {
        // Start a new line for the next task, unless the server rejected this one.
        showUnsaved(failure.status === 422 || fieldOf(single).value ? unsaved() : `${unsaved()}\n`);
        pending = [];
        refuse(single, failure, [text]);
      },
    });
  }
}

/** Saves an edited row or a pasted list. The form is locked until the response arrives. */
export function save(form: HTMLFormElement) {
  const field = fieldOf(form);
  if (field.readOnly) return;
  const row = form.closest('li');
  keepDraft(form);
  field.readOnly = true;
  if (!row) lost = undefined;
  explain(form, '');
  change(form.action, {
    request: () => post(new FormData(form)),
    done() {
      if (!row) return linesAdded(form, linesOf(field.value));
      if (form.querySelector('[name=revision]')) say('Saved', field.value.trim());
      else say('Added', field.value.trim(), { textContent: 'Show', href: '/#list' });
      endEdit(row);
    },
    failed(failure) {
      field.readOnly = false;
      // Pasted text starts a new line.
      if (!row && failure.status !== 422) field.value = `${field.value.trimEnd()}\n`;
      refuse(form, failure, linesOf(field.value));
    },
  });
}

/** Replaces the single-task form with a form for several tasks, or appends `text` to it. */
export function offerLines(text: string): void {
  const form = document.querySelector<HTMLFormElement>('.lines') ?? formOf('lines');
  const area = fieldOf(form);
  // Queue the text while the form is being sent.
  if (area.readOnly) return void enqueue(() => offerLines(text));
  restoreDraft(form);
  area.value = [area.value.trimEnd(), text].filter(Boolean).join('\n');
  countTasks(form);
  single.after(form);
  single.hidden = true;
  if (!document.querySelector(':is(.lines, .editing) :focus')) form.querySelector('button')?.focus();
  storeDraft(form, area.value);
}

/** Announces how many tasks were added, with a link if this page does not show them. */
function linesAdded(form: HTMLFormElement, lines: string[]) {
  const elsewhere = /filter=finished|after=|q=/.test(location.search);
  say(`Added ${tasksIn(lines)}`, undefined, elsewhere ? { textContent: 'Show', href: '/' } : undefined);
  endLines(form);
}

/** Shows the single-task form again. */
function endLines(form: HTMLFormElement) {
  storeDraft(form);
  form.remove();
  single.hidden = false;
  if (document.activeElement === document.body) fieldOf(single).focus();
}

/** Removes a failed request's lines from the form once the list shows them. */
export function settleLost() {
  if (!lost?.form.isConnected) return;
  const { form, lines, before } = lost;
  const added = rows().map((row) => !before.includes(row.id) && row.querySelector('.title')?.textContent);
  const isAdded = (line: string) => added.includes(line.trim().normalize());
  // The server removes the marker and the check box of a pasted line.
  const marker = form === single ? '' : /^\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?(?:\[[ xX]?\]\s+)?/;
  if (!lines.every((line) => isAdded(line) || isAdded(line.replace(marker, '')))) return;
  lost = undefined;
  const typed = fieldOf(form).value.replaceAll('\t', ' ').split('\n');
  const title = typed.filter((line) => !lines.includes(line)).join('\n');
  if (form !== single && !title.trim()) return linesAdded(form, lines);
  // Another task with the same title needs a new nonce.
  fill(form, { title, text: title.trimStart(), nonce: `${new FormData(formOf('lines')).get('nonce')}` });
  fieldOf(form).dispatchEvent(new Event('input', { bubbles: true }));
  if (form === single && title.includes('\n')) explain(form, 'The rest was not sent. Please try again.');
  form === single ? say('Added', lines[0]?.trim()) : say(`Added ${tasksIn(lines)}`);
}

function refuse(form: HTMLFormElement, failure: Failure, lines: string[]) {
  if (failure.page) renew(form, failure.page);
  failure.status === 401 || failure.cause ? report(failure) : explain(form, failure.message);
  // Keep the focus on a row that the user has reached meanwhile.
  if (!document.activeElement?.matches('input, textarea, li')) fieldOf(form).focus({ preventScroll: true });
  if (lines.length > 0 && !form.closest('li')) lost = { form, lines, before: rows().map(({ id }) => id) };
}

/** Copies the action and hidden fields of the form on `page` to `form`. */
function renew(form: HTMLFormElement, page: ParentNode) {
  const fresh = page.querySelector<HTMLFormElement>('form.write');
  if (!fresh || form.matches('.lines')) return;
  for (const old of form.querySelectorAll('[type=hidden]')) old.remove();
  form.prepend(...fresh.querySelectorAll('[type=hidden]'));
  form.action = fresh.action;
  if (form !== single) form.querySelector('.main')?.replaceWith(fresh.querySelector('.main') as Element);
}

/** Shows `problem` next to the form's field (and in the notice if the user has scrolled away), or removes it if empty. */
export function explain(form: HTMLFormElement, problem: string) {
  const field = fieldOf(form);
  const id = `${field.id}-problem`;
  for (const old of document.querySelectorAll(`#${id}, .complaint:has([href="#${field.id}"])`)) old.remove();
  field.ariaInvalid = problem ? 'true' : null;
  field.setAttribute('aria-describedby', problem && id);
  if (!problem) return;
  form.append(make('p', { id, className: 'problem', role: 'alert', textContent: problem }));
  const { y, bottom } = field.getBoundingClientRect();
  if (bottom <= 0 || y > innerHeight) complain(problem, false, { href: `#${field.id}`, textContent: 'Show' });
  else requestAnimationFrame(() => form.lastElementChild?.scrollIntoView({ block: 'nearest' }));
}

/** Opens a row's edit form. */
export function edit(row: HTMLElement, focus = true) {
  for (const menu of row.querySelectorAll('details')) menu.open = false;
  const form = formOf('edit', row.id.slice(5));
  const { revision, when = '' } = row.dataset;
  const title = row.querySelector('.title')?.textContent ?? '';
  fill(form, { title, was: title, revision });
  form.append(make('p', { className: 'when', textContent: when.replace(/\d[^ ,]*/g, local) }));
  row.append(form);
  row.classList.add('editing');
  restoreDraft(form);
  if (focus) fieldOf(form).focus();
  return form;
}

/** Shows the draft of a task that left the list. The form adds a deleted task again. */
function editGone(id: string) {
  const row = make('li', { id: `task-${id}`, tabIndex: -1 });
  rowsOf(document).prepend(row);
  const form = edit(row);
  enqueue(async () => {
    const { status } = await load(`/tasks/${id}/edit`).catch((failure) => failure);
    if (status !== 404) return;
    renew(form, await load(`/tasks/new${location.search}`));
    restoreDraft(form);
    explain(form, 'This task was deleted. Add saves it as a new task.');
  });
}

/** Closes the edit form and drops the draft. */
function endEdit(row: HTMLElement) {
  const refocus = keepFocus();
  const form = row.querySelector('form') as HTMLFormElement;
  storeDraft(form);
  form.remove();
  row.classList.remove('editing');
  if (!row.firstElementChild) row.remove();
  refocus();
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

/** Handles Escape and Cancel in `part`. Keeps the form open while its request is pending. */
export function cancel(part: Element) {
  if (part.id === 'title')
    return document.querySelector<HTMLElement>('.tasks > li, #list')?.focus({ preventScroll: true });
  const form = part.closest<HTMLFormElement>('.lines, .editing form');
  if (!form || form.querySelector('[readonly]')) return;
  explain(form, '');
  const row = form.closest('li');
  row ? [endEdit(row), showReceived()] : endLines(form);
  enqueue(() => refresh().catch(() => {}));
}

// The server redirects to the list after it has saved a form. Back and links load the list directly.
settleSent(performance.getEntriesByType('navigation')[0]?.toJSON().redirectCount > 0);
showUnsaved(drafts()['/task']?.title ?? fieldOf(single).value);
restoreDraft(single);
for (const place of Object.keys(drafts())) {
  const [, id = ''] = /^\/tasks\/(\d+)$/.exec(place) ?? [];
  const row = document.getElementById(`task-${id}`);
  if (row) edit(row);
  else if (id) editGone(id);
  if (place === 'lines') offerLines('');
}
