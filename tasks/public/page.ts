// For pages that submit forms without `fetch`. Typed text survives a reload until the server has saved it.
import { markSent, restoreDraft, settleSent, storeDraft } from './drafts.js';
import './times.js';

const { type } = performance.getEntriesByType('navigation')[0]?.toJSON() ?? {};
const forms = document.querySelectorAll<HTMLFormElement>('.write:not([enctype])');
// An error page has no form, and its reload sends the form again.
if (forms.length > 0) settleSent(document.querySelector('[role=status]') !== null);

for (const form of forms) {
  const field = form.querySelector<HTMLInputElement>('[name=title], [name=text]');
  // A rejected form's hidden fields are newer than the draft's. Shared text replaces the draft, except after a reload.
  const shared = type === 'navigate' && field?.defaultValue && !form.querySelector('[name=revision]');
  if (field?.value && (shared || field.ariaInvalid)) storeDraft(form, field.value);
  else restoreDraft(form);
  field?.setSelectionRange(field.value.length, field.value.length);
  field?.addEventListener('input', () => storeDraft(form, field.value));
  form.querySelector('.cancel')?.addEventListener('click', () => storeDraft(form));
}

// Delete ends the edit. The import of a file keeps the typed text.
for (const form of document.querySelectorAll('form:not([enctype])'))
  form.addEventListener('submit', () => forms.forEach(markSent));

// A reload or Back must not repeat `Restored 1 task.` or shared text.
if (!document.querySelector('.error') && /^\?(restored|imported|title|text|url)=/.test(location.search))
  history.replaceState(null, '', location.pathname);

document.querySelector<HTMLElement>('.show')?.addEventListener('click', ({ target }) => {
  const password = document.getElementById('password') as HTMLInputElement;
  password.type = password.type === 'text' ? 'password' : 'text';
  (target as Element).textContent = password.type === 'text' ? 'Hide password' : 'Show password';
});
