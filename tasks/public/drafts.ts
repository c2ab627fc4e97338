export type Field = HTMLInputElement | HTMLTextAreaElement;

/** The form above the list. */
export const single = document.getElementById('title')?.closest('form') as HTMLFormElement;

export const fieldOf = (form: HTMLFormElement) => form.querySelector('[autofocus]') as Field;

/** What a form says, by the names of its fields; `sent` once it is submitted as a page of its own. */
type Values = Partial<Record<string, string>>;

function storage() {
  try {
    return sessionStorage;
  } catch {
    // A browser that forbids storage keeps no drafts.
    return undefined;
  }
}

/** What was typed in this tab and not saved, by where it was typed. */
export const drafts = (): Record<string, Values> => JSON.parse(storage()?.getItem('drafts') ?? '{}');

const store = (changed: Record<string, Values | undefined>) =>
  storage()?.setItem('drafts', JSON.stringify({ ...drafts(), ...changed }));

/** Where a form leads, and so where its text belongs: one task, a new one, or several. */
function placeOf(form: HTMLFormElement) {
  const row = form.closest('li');
  return row ? `/tasks/${row.id.slice(5)}` : form.matches('.lines') ? 'lines' : new URL(form.action).pathname;
}

/** The text; what makes a task once, however often it is sent; the revision that was edited. */
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

/** Notes that the browser submits the form. The next page knows whether the server has saved it. */
export function markSent(form: HTMLFormElement) {
  const place = placeOf(form);
  const draft = drafts()[place];
  if (draft) store({ [place]: { ...draft, sent: 'yes' } });
}

/** Drops the drafts that were submitted, if the server has `saved` them. */
export function settleSent(saved: boolean) {
  for (const [place, { sent, ...draft }] of Object.entries(drafts()))
    if (sent) store({ [place]: saved ? undefined : draft });
}

export function fill(form: HTMLFormElement, values: Values) {
  for (const field of fieldsOf(form)) field.value = values[field.name] ?? field.value;
}

/** Fills in what was typed before a reload. It does not overwrite unseen a change that somebody else has made since. */
export const restoreDraft = (form: HTMLFormElement) => fill(form, drafts()[placeOf(form)] ?? {});
