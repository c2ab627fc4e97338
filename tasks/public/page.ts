// A page with forms that the browser submits: typed text survives a reload until the server has saved it.

import { markSent, restoreDraft, settleSent, storeDraft } from './drafts.js';
import './times.js';

const forms = document.querySelectorAll<HTMLFormElement>('.write');

// A refused form has newer hidden fields than its draft.
const refused = document.querySelector<HTMLInputElement>('.write [aria-invalid]');
settleSent(refused !== null || document.querySelector('[role=status]') !== null);

for (const form of forms) {
  const field = form.querySelector<HTMLInputElement>('[name=title], [name=text]');
  if (field && field === refused) storeDraft(form, field.value);
  // A new task with text was shared to this page.
  else if (!field?.defaultValue || form.querySelector('[name=revision]')) restoreDraft(form);
  field?.addEventListener('input', () => storeDraft(form, field.value));
  form.querySelector('.cancel')?.addEventListener('click', () => storeDraft(form));
}

// Delete on the edit page submits another form, and ends the edit, too.
document.addEventListener('submit', () => forms.forEach(markSent));

document.querySelector<HTMLElement>('.show')?.addEventListener('click', ({ target }) => {
  const password = document.getElementById('password') as HTMLInputElement;
  const [type, verb] = password.type === 'password' ? ['text', 'Hide'] : ['password', 'Show'];
  password.type = type;
  (target as Element).textContent = `${verb} password`;
});
