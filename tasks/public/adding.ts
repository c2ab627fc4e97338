import { change, enqueue } from './change.js';
import { drafts, restoreDraft, storeDraft, textFieldsOf } from './drafts.js';
import { countTasks, explain, fieldOf, formKey, linesOf, refuse, setFormKey, single } from './form.js';
import { dropLines, keepLines, lines } from './kept.js';
import { say } from './notice.js';
import { hasConnection, tellConnection } from './offline.js';
import { type Failure, newKey, post } from './request.js';
import { forget, remember } from './unanswered.js';

// A text area can show several unsaved tasks.
const area = Object.assign(document.createElement('textarea'), { rows: 1, value: fieldOf(single).value });
for (const { name, value } of (fieldOf(single) as Element).attributes) area.setAttribute(name, value);
fieldOf(single).replaceWith(area);

/** A new task without a response yet. */
interface NewTask {
  text: string;
  data: FormData;
  /** Tells a second attempt from another task with the same title. */
  nonce: string;
}

/** The oldest first. */
let waiting: NewTask[] = [];

const unsaved = () => [...waiting.map(({ text }) => text), fieldOf(single).value].filter(Boolean).join('\n');

function keepAddDraft() {
  const nonce = waiting[0]?.nonce ?? formKey(single);
  storeDraft(single, { title: unsaved(), nonce });
  if (!lines()) return;
  if (unsaved()) keepLines({ text: unsaved(), nonce });
  else dropLines();
  countTasks(single);
  tellConnection();
}

/** The user has changed the text, so it is sent only after another press of Add. */
export function typed() {
  dropLines();
  keepAddDraft();
  tellConnection();
}

function show(text: string) {
  fieldOf(single).value = text;
  countTasks(single);
}

/** Adds a task for each line. Unsaved text returns to the field after a failure. */
export function add() {
  sendLines();
  // Keeps a phone's keyboard open after a tap on Add.
  fieldOf(single).focus();
}

function sendLines() {
  const { value } = fieldOf(single);
  // The server explains why it refuses a blank line.
  const texts = linesOf(value).length > 0 ? linesOf(value) : [value];
  const tasks = texts.map((text) => takeTask(text));
  forget();
  explain(single, '');
  for (const field of textFieldsOf(single)) field.value = '';
  countTasks(single);
  for (const task of tasks) send(task);
}

function takeTask(text: string): NewTask {
  const data = new FormData(single);
  data.set('title', text);
  const nonce = formKey(single);
  setFormKey(single);
  return { text, data, nonce };
}

function send(task: NewTask) {
  const key = newKey();
  waiting.push(task);
  change({
    request() {
      // An earlier task has failed.
      if (!waiting.includes(task)) return undefined;
      task.data.set('_csrf', `${new FormData(single).get('_csrf')}`);
      return { url: single.action, init: post(task.data, key) };
    },
    saved() {
      say('Added', task.text.trim().normalize());
      waiting.shift();
      keepAddDraft();
    },
    failed: (failure) => takeBack(task, failure, key),
  });
}

/** Returns the text of `task` and of all later tasks to the field. */
function takeBack({ text, nonce }: NewTask, failure: Failure, key: string) {
  // Start a new line for the next task, unless the server rejected this one.
  const isRejected = failure.kind === 'invalid' || fieldOf(single).value !== '';
  show(isRejected ? unsaved() : `${unsaved()}\n`);
  waiting = [];
  const isUnsent = failure.kind === 'no answer' && !hasConnection();
  const waits = isUnsent && keepLines({ text: unsaved(), nonce });
  if (!waits) {
    // The user decides whether to send a refused line again.
    dropLines();
    refuse(single, failure);
  }
  setFormKey(single, nonce);
  keepAddDraft();
  remember(failure, key, () => leaveField(text));
}

/** Takes an added task out of the field. */
function leaveField(text: string) {
  const lines = fieldOf(single).value.split('\n');
  const at = lines.findIndex((line) => line.replaceAll('\t', ' ') === text);
  const left = lines
    .filter((_, i) => i !== at)
    .join('\n')
    .trimStart();
  show(left);
  setFormKey(single);
  explain(single, left.includes('\n') ? 'The rest was not sent. Please try again.' : '');
  keepAddDraft();
  say('Added', text.trim().normalize());
}

export function restoreAdd() {
  const kept = lines();
  show(drafts()['/task']?.title ?? kept?.text ?? fieldOf(single).value);
  if (kept) setFormKey(single, kept.nonce);
  restoreDraft(single);
}

const isField = (text: string) => fieldOf(single).value.trim() === text.trim();

/** Sends the lines that wait for a connection. Only one page of this device does so at a time. */
async function sendWaiting() {
  if (!lines()) return;
  await navigator.locks.request('lines', async () => {
    const kept = lines();
    if (!kept || !isField(kept.text)) return;
    setFormKey(single, kept.nonce);
    sendLines();
    await new Promise((resolve) => enqueue(() => resolve(undefined)));
  });
}

addEventListener('connected', () => void sendWaiting());

// Another page of this device has sent the lines.
addEventListener('storage', ({ key, oldValue, newValue }) => {
  if (key !== 'lines' || newValue !== null || !isField(JSON.parse(oldValue ?? '{}').text ?? '')) return;
  show('');
  setFormKey(single);
  keepAddDraft();
  tellConnection();
});
