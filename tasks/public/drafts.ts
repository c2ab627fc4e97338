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

/** @param text by default nothing, which drops what was kept */
export function storeDraft(form: HTMLFormElement, text?: string) {
  const values = Object.fromEntries(
    Array.from(fieldsOf(form), ({ name, value, type }) => [name, type === 'hidden' ? value : text]),
  );
  try {
    const kept = { ...drafts(), [placeOf(form)]: text ? values : undefined };
    sessionStorage.setItem('drafts', JSON.stringify(kept));
  } catch {
    // It is lost on reload, as it would be without this.
  }
}

/** Fills in what was typed before a reload. A change of somebody else since is not overwritten unseen. */
export function restoreDraft(form: HTMLFormElement) {
  const values = drafts()[placeOf(form)] ?? {};
  for (const field of fieldsOf(form)) field.value = values[field.name] ?? field.value;
}
