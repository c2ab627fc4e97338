export type Field = HTMLInputElement | HTMLTextAreaElement;

/** The form above the list. */
export const single = document.getElementById('title')?.closest('form') as HTMLFormElement;

export const fieldOf = (form: HTMLFormElement) => form.querySelector('[autofocus]') as Field;

/** A form's values by field name, and `sent` once the browser has submitted it. */
type Values = Partial<Record<string, string>>;

function storage() {
  try {
    return sessionStorage;
  } catch {
    // A browser that forbids storage keeps no drafts.
    return undefined;
  }
}

/** Unsaved text of this tab, by its place. */
export const drafts = (): Record<string, Values> => JSON.parse(storage()?.getItem('drafts') ?? '{}');

const store = (changed: Record<string, Values | undefined>) =>
  storage()?.setItem('drafts', JSON.stringify({ ...drafts(), ...changed }));

/** The place of a form's text: a task, the new task, or several. */
function placeOf(form: HTMLFormElement) {
  const row = form.closest('li');
  return row ? `/tasks/${row.id.slice(5)}` : form.matches('.lines') ? 'lines' : new URL(form.action).pathname;
}

const fieldsOf = (form: HTMLFormElement) =>
  form.querySelectorAll<HTMLInputElement>(
    ':is([name=title], [name=text], [name=nonce], [name=revision], [name=was])',
  );

/** @param text by default nothing, which drops the draft */
export function storeDraft(form: HTMLFormElement, text?: string) {
  const values = Object.fromEntries(
    Array.from(fieldsOf(form), ({ name, value, type }) => [name, type === 'hidden' ? value : (text ?? '')]),
  );
  store({ [placeOf(form)]: text ? values : undefined });
}

/** Marks the draft of a form that the browser submits. The next page knows whether the server saved it. */
export function markSent(form: HTMLFormElement) {
  const place = placeOf(form);
  const draft = drafts()[place];
  if (draft) store({ [place]: { ...draft, sent: 'yes' } });
}

/** Drops submitted drafts if the server `saved` them, and keeps them otherwise. */
export function settleSent(saved: boolean) {
  for (const [place, { sent, ...draft }] of Object.entries(drafts()))
    if (sent) store({ [place]: saved ? undefined : draft });
}

export function fill(form: HTMLFormElement, values: Values) {
  for (const field of fieldsOf(form)) field.value = values[field.name] ?? field.value;
}

/** Restores text from before a reload, with its revision: a change by somebody else since is not overwritten unseen. */
export const restoreDraft = (form: HTMLFormElement) => fill(form, drafts()[placeOf(form)] ?? {});
