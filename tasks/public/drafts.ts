/** A form's values by field name. `sent` is set after a submit. */
export type Values = Partial<Record<string, string>>;

/** Drafts of this page, if the browser's storage is blocked or full. They do not survive a reload. */
let fallback: string | undefined;

function read(): string | null {
  try {
    return fallback ?? sessionStorage.getItem('drafts');
  } catch {
    return null;
  }
}

function write(drafts: string) {
  fallback = undefined;
  try {
    sessionStorage.setItem('drafts', drafts);
  } catch {
    fallback = drafts;
  }
}

/** This tab's unsaved forms, by draft key. */
export function drafts(): Record<string, Values> {
  try {
    return JSON.parse(read() ?? '{}') ?? {};
  } catch {
    return {};
  }
}

const store = (changed: Record<string, Values | undefined>) =>
  write(JSON.stringify({ ...drafts(), ...changed }));

/** Identifies a form by its task's path (even if the task was deleted), its action's path, or `lines` for a pasted list. */
function draftKey(form: HTMLFormElement) {
  if (form.matches('.lines')) return 'lines';
  const row = form.closest('li');
  const path = row ? `/tasks/${row.id.slice(5)}` : location.pathname;
  const [task] = /^\/tasks\/\d+/.exec(path) ?? [];
  return task ?? new URL(form.action).pathname;
}

const fieldsOf = (form: HTMLFormElement) =>
  form.querySelectorAll<HTMLInputElement>('[name]:not([name^=_], [type=file], [type=password])');

/** The fields that the user fills in. */
export const textFieldsOf = (form: HTMLFormElement) =>
  form.querySelectorAll<HTMLInputElement>(
    '[name]:not([name^=_], [type=file], [type=password], [type=hidden])',
  );

/** Stores the form's values, replaced by `values`, or drops the draft without text. Keeps the revision of a deleted task. */
export function storeDraft(form: HTMLFormElement, values: Values = {}) {
  const shown = Object.fromEntries(Array.from(fieldsOf(form), ({ name, value }) => [name, value]));
  const draft = { ...drafts()[draftKey(form)], ...shown, ...values };
  const hasText = Array.from(textFieldsOf(form)).some(({ name }) => draft[name]);
  store({ [draftKey(form)]: hasText ? draft : undefined });
}

export const dropDraft = (form: HTMLFormElement) => store({ [draftKey(form)]: undefined });

/** Returns a draft, and drops it. */
export function takeDraft(key: string): Values | undefined {
  const draft = drafts()[key];
  store({ [key]: undefined });
  return draft;
}

/** Marks a draft as submitted, but not yet as saved. */
export function markSent(form: HTMLFormElement) {
  const draft = drafts()[draftKey(form)];
  if (draft) store({ [draftKey(form)]: { ...draft, sent: 'yes' } });
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

const lockOf = (owner: string | undefined) => `lines of ${owner}`;

const held = new Set<string>();

/** Holds a lock as long as this page is open, so that no other page takes over its lines, or the session's draft. */
export function hold(owner: string) {
  if (!held.has(owner)) void navigator.locks?.request(lockOf(owner), () => new Promise(() => {}));
  held.add(owner);
}

/** Runs `act` if all pages that have held this lock are gone. */
export const ifGone = (owner: string | undefined, act: () => unknown) =>
  navigator.locks.request(lockOf(owner), { ifAvailable: true }, (lock) => lock && act());
