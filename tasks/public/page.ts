// For pages that submit forms without `fetch`. Typed text survives a reload until the server has saved it.

import { pasteLong, problemOfPaste } from './clipboard.js';
import {
  drafts,
  dropDraft,
  hold,
  markSent,
  restoreDraft,
  settleSent,
  storeDraft,
  textFieldsOf,
} from './drafts.js';
import { preview } from './preview.js';
import './times.js';

const { type } = performance.getEntriesByType('navigation')[0]?.toJSON() ?? {};
const forms = document.querySelectorAll<HTMLFormElement>('.write:not(:has([type=file], [type=password]))');
// An error page has no form, and its reload sends the form again.
if (forms.length > 0) settleSent(document.querySelector('[role=status]') !== null);

// The user may go back to the list, whose field shows it again.
const draftOfList = drafts()['/task']?.id;
if (draftOfList) hold(draftOfList);

for (const form of forms) {
  const [field] = textFieldsOf(form);
  // A rejected form's hidden fields are newer than the draft's. Shared text replaces the draft, except after a reload.
  const isShared = type === 'navigate' && field?.defaultValue && !form.querySelector('[name=revision]');
  const isRejected = form.querySelector('[aria-invalid]') !== null;
  if (field?.value && (isShared || isRejected)) storeDraft(form);
  else restoreDraft(form);
  field?.setSelectionRange(field.value.length, field.value.length);
  form.addEventListener('input', () => storeDraft(form));
  if (form.querySelector('[name=text]')) {
    form.addEventListener('input', () => preview(form));
    preview(form);
  }
  form.addEventListener('paste', (event) => pasteInto(form, event));
  form.querySelector('.cancel')?.addEventListener('click', () => dropDraft(form));
}

function pasteInto(form: HTMLFormElement, event: ClipboardEvent) {
  form.querySelector('.problem')?.remove();
  const problem = problemOfPaste(event);
  if (!problem) {
    pasteLong(event);
    return;
  }
  event.preventDefault();
  const shown = Object.assign(document.createElement('p'), { className: 'problem', role: 'alert' });
  shown.textContent = problem;
  form.append(shown);
}

// Delete ends the edit. The import of a file, and its Undo, keep the typed text.
for (const form of document.querySelectorAll('form:not(:has([type=file]), .undo)'))
  form.addEventListener('submit', () => forms.forEach(markSent));

// A reload or Back must not repeat `Restored 1 task.` or shared text.
if (!document.querySelector('.error') && /^\?(restored|imported|title|text|url)=/.test(location.search))
  history.replaceState(null, '', location.pathname);

document.querySelector<HTMLElement>('.show')?.addEventListener('click', ({ target }) => {
  const password = document.getElementById('password') as HTMLInputElement;
  password.type = password.type === 'text' ? 'password' : 'text';
  (target as Element).textContent = password.type === 'text' ? 'Hide password' : 'Show password';
});
