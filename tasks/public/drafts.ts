/** The form above the list. */
export const single = document.getElementById('title')?.closest('form') as HTMLFormElement;

export const fieldOf = (form: HTMLFormElement) =>
  form.querySelector('[name=title], [name=text]') as HTMLInputElement | HTMLTextAreaElement;

/** A form's values by field name. `sent` is set after a submit. */
type Values = Partial<Record<string, string>>;

/** This tab's unsaved forms, by draft key. */
export const drafts = (): Record<string, Values> => JSON.parse(sessionStorage.drafts ?? '{}');

const store = (changed: Record<string, Values | undefined>) =>
  sessionStorage.setItem('drafts', JSON.stringify({ ...drafts(), ...changed }));

/** Identifies a form by its task's path (even if the task was deleted), its action's path, or `lines` for a pasted list. */
function draftKey(form: HTMLFormElement) {
  const row = form.closest('li');
  const [task] = /^\/tasks\/\d+/.exec(row ? `/tasks/${row.id.slice(5)}` : location.pathname) ?? [];
  return form.matches('.lines') ? 'lines' : (task ?? new URL(form.action).pathname);
}

const fieldsOf = (form: HTMLFormElement) =>
  form.querySelectorAll<HTMLInputElement>('[name]:not([name^=_], [type=file])');

/** Stores the form with `text` as a draft, or drops the draft if `text` is empty. Keeps the revision of a deleted task. */
export function storeDraft(form: HTMLFormElement, text?: string) {
  const values = Object.fromEntries(
    Array.from(fieldsOf(form), ({ name, value, type }) => [name, type === 'hidden' ? value : (text ?? '')]),
  );
  store({ [draftKey(form)]: text ? { ...drafts()[draftKey(form)], ...values } : undefined });
}

/** Marks a draft as submitted, but not yet as saved. */
export function markSent(form: HTMLFormElement) {
  const key = draftKey(form);
  if (drafts()[key]) store({ [key]: { ...drafts()[key], sent: 'yes' } });
}

/** Drops submitted drafts if the server `saved` them. */
export function settleSent(saved: boolean) {
  for (const [key, { sent, ...draft }] of Object.entries(drafts()))
    if (sent) store({ [key]: saved ? undefined : draft });
}

export function fill(form: HTMLFormElement, values: Values) {
  for (const field of fieldsOf(form)) field.value = values[field.name] ?? field.value;
}

/** Restores a draft and its revision, so that saving cannot overwrite a later change. */
export const restoreDraft = (form: HTMLFormElement) => fill(form, drafts()[draftKey(form)] ?? {});
