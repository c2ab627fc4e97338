// @ts-check

// The list without page loads: fetch sends the same links and forms, and the list that comes back is swapped in.
// Without this script they are plain links and forms.

import { change, enqueue, load, refresh } from './change.js';
import { edit, endEdit } from './edit.js';
import { explain, keepDraft, noteEdit, restoreDraft, settle, write } from './form.js';
import { live } from './live.js';
import { mention, say, takeNotice } from './notice.js';
import { shownVersion, swap } from './swap.js';

const list = /** @type {HTMLElement} */ (document.getElementById('list'));
const field = /** @type {HTMLInputElement} */ (document.getElementById('title'));

// After a reload, or Import and Back.
const adding = /** @type {HTMLFormElement} */ (field.form);
restoreDraft(adding);

document.addEventListener('click', (event) => {
  const target = /** @type {Element} */ (event.target);
  // The second click of a double click may hit another task, which has just moved under the pointer.
  if (event.detail > 1 && target.closest('.tasks :is(a, button)')) return event.preventDefault();
  const link = target.closest('a');
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const task = link.closest('li');
  if (task && link.matches('.toggle')) toggle(task, link.href);
  else if (task && link.matches('.edit')) enqueue(() => edit(task, link.href));
  else if (task && link.matches('.cancel')) cancel(task);
  else if (link.closest('#list nav')) visit(link);
  else return;
  event.preventDefault();
});

document.addEventListener('submit', (event) => {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.target);
  const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
  if (form.matches('.write')) write(form);
  else if (button) press(form, button);
});

// What replaces a selection shows only before the input, what Backspace deletes only after it. Enter edits nothing. An
// input method selects its whole word though it only continues it.
document.addEventListener('beforeinput', ({ target, inputType, isComposing }) => {
  if (inputType === 'insertLineBreak' || isComposing) return;
  if (target instanceof HTMLInputElement) noteEdit(target);
});

document.addEventListener('input', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || !target.form) return;
  noteEdit(target);
  explain(target.form, '');
  if (target.form === adding) keepDraft(adding);
});

document.addEventListener('keydown', (event) => {
  const task = /** @type {Element} */ (event.target).closest('.editing');
  if (task && event.key === 'Escape' && !event.isComposing) cancel(task);
});

addEventListener('popstate', () => enqueue(refresh));

/**
 * Finishes or reopens a task.
 *
 * @param {Element} task
 * @param {string} url
 */
function toggle(task, url) {
  const title = task.querySelector('.title')?.textContent ?? '';
  change(
    url,
    () => ({}),
    () => say(task.matches('.finished') ? 'Reopened' : 'Finished', title),
  );
}

/** @param {Element} task */
function cancel(task) {
  endEdit(task);
  enqueue(refresh);
}

/**
 * Shows another part of the list and changes the address, so that Back works.
 *
 * @param {HTMLAnchorElement} link
 */
function visit({ href, rel }) {
  enqueue(async () => {
    const { page } = await load(href);
    history.pushState(null, '', href);
    swap(page);
    if (rel === 'next') list.scrollIntoView();
  });
}

/**
 * Deletes a task, clears the finished tasks, or undoes that.
 *
 * @param {HTMLFormElement} form
 * @param {HTMLButtonElement} button
 */
function press(form, button) {
  const data = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(form, button)));
  const init = { method: 'POST', body: new URLSearchParams(data) };
  const done = (/** @type {Document} */ page) => {
    const noticed = takeNotice(page);
    if (!noticed) say('Restored', document.querySelector('#notice bdi')?.textContent ?? undefined);
    // These buttons are gone now.
    if (!noticed || form.matches('.clear')) field.focus();
  };
  change(button.hasAttribute('formaction') ? button.formAction : form.action, () => init, done);
}

let latest = shownVersion();
let checking = false;

live('/tasks/events', (version) => {
  latest = version;
  settle(version);
  if (checking || latest === shownVersion()) return;
  checking = true;
  enqueue(async () => {
    checking = false;
    const shown = shownVersion();
    if (latest === shown) return;
    // Nobody asked for this refresh, so a failure is not shown. The server sends the version again soon.
    await refresh().catch(() => {});
    if (shown !== shownVersion())
      mention(`The list changed: ${document.getElementById('count')?.textContent}`);
  });
});
