// A page with forms that the browser sends itself: what is typed survives a reload, until it is sent.

import { restoreDraft, storeDraft } from './drafts.js';
import './times.js';

for (const form of document.querySelectorAll<HTMLFormElement>('.write')) {
  const field = form.querySelector<HTMLInputElement>('[name=title], [name=text]');
  // The text of a new task that stands there already was shared, or sent and refused.
  if (!field?.defaultValue || form.querySelector('[name=revision]')) restoreDraft(form);
  field?.addEventListener('input', () => storeDraft(form, field.value));
  form.addEventListener('submit', () => storeDraft(form));
}

document.querySelector<HTMLElement>('.show')?.addEventListener('click', ({ target }) => {
  const password = document.getElementById('password') as HTMLInputElement;
  const [type, verb] = password.type === 'password' ? ['text', 'Hide'] : ['password', 'Show'];
  password.type = type;
  (target as Element).textContent = `${verb} password`;
});
