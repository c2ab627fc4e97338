import { change } from './change.js';
import { drafts, restoreDraft, storeDraft, textFieldsOf } from './drafts.js';
import { countTasks, explain, fieldOf, formKey, linesOf, refuse, setFormKey, single } from './form.js';
import { say } from './notice.js';
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

export const keepAddDraft = () =>
  storeDraft(single, { title: unsaved(), nonce: waiting[0]?.nonce ?? formKey(single) });

function show(text: string) {
  fieldOf(single).value = text;
  countTasks(single);
}

/** Adds a task for each line. Unsaved text returns to the field after a failure. */
export function add() {
  const { value } = fieldOf(single);
  // The server explains why it refuses a blank line.
  const texts = linesOf(value).length > 0 ? linesOf(value) : [value];
  const tasks = texts.map((text) => takeTask(text));
  forget();
  explain(single, '');
  for (const field of textFieldsOf(single)) field.value = '';
  countTasks(single);
  // Keeps a phone's keyboard open after a tap on Add.
  fieldOf(single).focus();
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
  refuse(single, failure);
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
  show(drafts()['/task']?.title ?? fieldOf(single).value);
  restoreDraft(single);
}
