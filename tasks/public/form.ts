import { make } from './dom.js';
import { textFieldsOf } from './drafts.js';
import { complain, endFieldComplaint, readingTime, report } from './notice.js';
import { type Failure, newKey } from './request.js';

/** The form above the list. */
export const single = document.getElementById('title')?.closest('form') as HTMLFormElement;

/** The field for a title or a list. */
export const fieldOf = (form: HTMLFormElement) =>
  form.querySelector('[name=title], [name=text]') as HTMLInputElement | HTMLTextAreaElement;

export const isLocked = (form: HTMLFormElement) => fieldOf(form).readOnly;

/** Makes a form from views/forms.eta. */
export function formOf(name: 'edit' | 'lines', id = '') {
  const { text } = document.getElementById(`${name}-form`) as HTMLScriptElement;
  const csrf = document.querySelector<HTMLInputElement>('[name=_csrf]')?.value;
  const values = { id, csrf, nonce: newKey() };
  const html = text.replace(/{(\w+)}/g, (_, name) => values[name as keyof typeof values] ?? '');
  return document.createRange().createContextualFragment(html).querySelector('form') as HTMLFormElement;
}

const nonceOf = (form: HTMLFormElement) => form.querySelector('[name=nonce]') as HTMLInputElement;

/** The key of a form. The server does not add a task again that it has added for the same key. */
export const formKey = (form: HTMLFormElement) => nonceOf(form).value;

export function setFormKey(form: HTMLFormElement, key = newKey()) {
  nonceOf(form).value = key;
}

/** The title that a line becomes, with spaces for tabs. */
export const titleOf = (line: string) => line.replaceAll('\t', ' ');

/** The titles of the lines that are not blank. */
export const linesOf = (text: string) =>
  text.split('\n').flatMap((line) => (line.trim() ? titleOf(line) : []));

export const tasksIn = ({ length }: string[]) => `${length} ${length === 1 ? 'task' : 'tasks'}`;

/** Shows the number of tasks on the form's button. */
export function countTasks(form: HTMLFormElement) {
  const isList = form !== single;
  const lines = linesOf(fieldOf(form).value);
  const label = isList || lines.length > 1 ? `Add ${tasksIn(lines)}` : 'Add';
  const waits = form.dataset.waits !== undefined;
  (form.querySelector('.main') as Element).textContent = waits ? 'Add when online' : label;
  if (isList) void showPreview(form);
}

/** Shows what a list will add. Few pages need this script, so it is not among those that every page loads. */
async function showPreview(form: HTMLFormElement) {
  const script = await import('./preview.js').catch(() => undefined);
  script?.preview(form);
}

/** Takes the first item that matches out of `items`. */
export function take<T>(items: T[], matches: (item: T) => boolean): T | undefined {
  const at = items.findIndex(matches);
  return at < 0 ? undefined : items.splice(at, 1)[0];
}

/** Returns `text` without one line for each of `lines`. */
export function withoutLines(text: string, lines: string[]) {
  const left = [...lines];
  const isLeft = (typed: string) => take(left, (line) => line === titleOf(typed)) === undefined;
  return text.split('\n').filter(isLeft).join('\n');
}

/** Shows why the server has not saved the form. */
export function refuse(form: HTMLFormElement, failure: Failure) {
  if (failure.page) renew(form, failure.page);
  if (failure.kind === 'logged out' || failure.kind === 'script error') report(failure);
  else explain(form, failure.message);
  if (failure.wasNotSent) dropOnceConnected(form, failure.message);
  // Keep the focus on a row that the user has reached meanwhile.
  if (!document.activeElement?.matches('input, textarea, li')) fieldOf(form).focus({ preventScroll: true });
}

/** Drops a problem about the connection with the first event of the server after everybody can have read it. */
async function dropOnceConnected(form: HTMLFormElement, problem: string) {
  await new Promise((resolve) => setTimeout(resolve, readingTime));
  await new Promise((resolve) => addEventListener('connected', resolve, { once: true }));
  if (form.querySelector('.problem')?.textContent === problem) explain(form, '');
}

/** Takes the fields from `fresh` that the user has not changed, after somebody else has changed the task. */
function takeFields(form: HTMLFormElement, fresh: HTMLFormElement) {
  const was = new FormData(form);
  const now = new FormData(fresh);
  for (const field of textFieldsOf(form)) {
    const value = now.get(field.name);
    if (value !== null && field.value === was.get(`was.${field.name}`)) field.value = `${value}`;
  }
}

/** Copies the action and hidden fields of the form on `page` to `form`. */
export function renew(form: HTMLFormElement, page: ParentNode) {
  const fresh = page.querySelector<HTMLFormElement>('form.write');
  if (!fresh || form.matches('.lines')) return;
  takeFields(form, fresh);
  for (const old of form.querySelectorAll('[type=hidden]')) old.remove();
  form.prepend(...fresh.querySelectorAll('[type=hidden]'));
  // The page has the key of the failed request. Only the line that failed may use it again.
  if (form === single) setFormKey(form);
  form.action = fresh.action;
  if (form !== single) form.querySelector('.main')?.replaceWith(fresh.querySelector('.main') as Element);
}

/** Shows `problem` next to the form's field (and in the notice if the user has scrolled away), or removes it if empty. */
export function explain(form: HTMLFormElement, problem: string) {
  const field = fieldOf(form);
  const id = `${field.id}-problem`;
  document.getElementById(id)?.remove();
  endFieldComplaint(field.id);
  field.ariaInvalid = problem ? 'true' : null;
  field.setAttribute('aria-describedby', problem && id);
  if (!problem) return;
  form.append(make('p', { id, className: 'problem', role: 'alert', textContent: problem }));
  const { y, bottom } = field.getBoundingClientRect();
  const isOutOfSight = bottom <= 0 || y > innerHeight;
  if (isOutOfSight) complain(problem, { field: field.id }, { href: `#${field.id}`, textContent: 'Show' });
  else requestAnimationFrame(() => form.lastElementChild?.scrollIntoView({ block: 'nearest' }));
}
