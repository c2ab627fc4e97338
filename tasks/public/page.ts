// A page with forms that the browser sends itself: what is typed survives a reload, until it is sent.

import { restoreDraft, storeDraft } from './drafts.js';
import './times.js';

for (const form of document.querySelectorAll<HTMLFormElement>('.write')) {
  restoreDraft(form);
  const field = form.querySelector<HTMLInputElement>('[name=title], [name=text]');
  field?.addEventListener('input', () => storeDraft(form, field.value));
  form.addEventListener('submit', () => storeDraft(form));
}
