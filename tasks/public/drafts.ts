/** What a form says, by the names of its fields. */
type Values = Record<string, string>;

/** What was typed in this tab and not saved, by where it was typed. */
export function drafts(): Record<string, Values> {
  try {
    return JSON.parse(sessionStorage.getItem('drafts') ?? '{}');
  } catch {
    // A browser that forbids storage keeps nothing.
    return {};
  }
}

/** Where the form stands: the id of a task's row, or above the list. */
const placeOf = (form: HTMLFormElement) => form.closest('li')?.id ?? 'above';

/** What has to stay as it was: the text; what makes a task once, however often it is sent; the revision that was edited. */
const fieldsOf = (form: HTMLFormElement) =>
  form.querySelectorAll<HTMLInputElement>('[name=title], [name=nonce], [name=revision]');

export function storeDraft(form: HTMLFormElement, title?: string) {
  const values = Object.fromEntries(Array.from(fieldsOf(form), ({ name, value }) => [name, value]));
  try {
    const draft = title ? { ...values, title } : undefined;
    sessionStorage.setItem('drafts', JSON.stringify({ ...drafts(), [placeOf(form)]: draft }));
  } catch {
    // It is lost on reload, as it would be without this.
  }
}

export function restoreDraft(form: HTMLFormElement) {
  const values = drafts()[placeOf(form)] ?? {};
  for (const field of fieldsOf(form)) field.value = values[field.name] ?? field.value;
}
