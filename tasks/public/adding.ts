import { change, enqueue } from './change.js';
import {
  drafts,
  hold,
  ifGone,
  restoreDraft,
  storeDraft,
  takeDraft,
  textFieldsOf,
  type Values,
} from './drafts.js';
import {
  countTasks,
  explain,
  fieldOf,
  formKey,
  linesOf,
  refuse,
  setFormKey,
  single,
  take,
  titleOf,
  withoutLines,
} from './form.js';
import {
  correct,
  drop,
  isKept,
  isSame,
  keep,
  keepDraft,
  keptDrafts,
  newTasks,
  type Operation,
  operationOf,
  read,
  release,
  replace,
} from './kept.js';
import { complain, report, say } from './notice.js';
import { asked, isOffline } from './offline.js';
import { type Failure, newKey, post } from './request.js';
import { sharedText } from './shared-text.js';
import { forget, remember } from './unanswered.js';
import { endUndo, mayWait, sendSoon, withLimit } from './waiting.js';

// A text area can show several unsaved tasks.
const input = fieldOf(single);
const area = Object.assign(document.createElement('textarea'), { rows: 1, value: input.value });
for (const { name, value } of input.attributes) area.setAttribute(name, value);
input.replaceWith(area);

area.onfocus = startLineAtTap;

/** The next tap into several lines starts another one, wherever it hits. The tap after that moves the cursor. */
function startLineAtTap() {
  area.addEventListener('click', startLine, { once: true });
}

function startLine() {
  if (area.value.includes('\n') && area.selectionStart === area.selectionEnd) show(area.value, 0);
}

/** Whether the user composes a word, as on most phones. Changing the field would repeat the word's beginning. */
let isComposing = false;

/** Milliseconds after a word in which the field does not shrink. A tap that ends the word hits the button or row that it aims at. */
const tapTime = 300;

let composed: ReturnType<typeof setTimeout> | undefined;

area.addEventListener('compositionstart', () => {
  clearTimeout(composed);
  isComposing = true;
});
area.addEventListener('compositionend', () => {
  composed = setTimeout(endComposition, tapTime);
});

/** Changes the field as it should have changed meanwhile. */
function endComposition() {
  clearTimeout(composed);
  isComposing = false;
  settleLines([]);
  area.dispatchEvent(new Event('composed'));
}

/** A new task without a response yet. */
interface NewTask {
  text: string;
  data: FormData;
  operation: Operation;
  /** The line as it has waited for a connection until now. */
  waited: Operation | undefined;
}

/** The oldest first. */
let pending: NewTask[] = [];

/** A line of the field, and the task that waits in it for a connection. */
interface Line {
  text: string;
  operation?: Operation | undefined;
}

/** The lines of the field. A waiting task stays in its line when the user corrects or empties that. */
let shown: Line[] = [];

/** The waiting tasks whose lines are gone. The user may put them elsewhere, or undo that. */
let removed: Operation[] = [];

const isBlank = ({ text }: Line) => !text.trim();

const tasksOf = (lines: Line[]) => lines.flatMap(({ operation }) => operation ?? []);

/** The tasks that wait in the field. */
const waits = () => tasksOf(shown.filter((line) => !isBlank(line)));

/** Puts each task on the first free line with its title. */
function place(tasks: Operation[]) {
  for (const task of tasks) {
    const line = shown.find(({ text, operation }) => !operation && titleOf(text) === task.title);
    if (line) line.operation = task;
  }
}

/** Takes tasks off their lines. The text of the lines stays. */
function displace(tasks: Operation[]) {
  for (const line of shown)
    if (tasks.some(({ key }) => key === line.operation?.key)) line.operation = undefined;
}

type Keyed = Pick<Operation, 'key' | 'title'>;

/** The other lines of the field that have a key. The device may keep them, or the server may have added them. */
let keyed: Keyed[] = [];

/** Forgets the keys of `lines`. */
function unkey(lines: Keyed[]) {
  keyed = keyed.filter(({ key }) => !lines.some((line) => line.key === key));
}

const unsaved = () => [...pending.map(({ text }) => text), area.value].filter(Boolean).join('\n');

const titlesOf = (lines: Keyed[]) => lines.map(({ title }) => title);

/**
 * Stores the text that this device does not keep yet, with the keys of its lines. Tells whether all lines wait: only once the
 * browser has stored them.
 */
function keepAddDraft() {
  const lines = [...pending.map(({ operation }) => operation), ...waits()];
  const title = withoutLines(unsaved(), titlesOf(lines.filter(isKept))).trimStart();
  const doubtful = [...lines.filter((line) => !isKept(line)), ...keyed];
  const keys = JSON.stringify(doubtful.map(({ key, title }) => ({ key, title })));
  storeDraft(single, { title, keys, id: draftId });
  const draft = drafts()['/task'];
  if (draft) hold(draftId);
  void keepDraft(draftId, draft);
  single.toggleAttribute('data-waits', !title && waits().length > 0);
  countTasks(single);
}

/** Reads the lines of the field after the user has changed some that lie together. Returns those that are gone. */
function readTyped(): Line[] {
  const texts = area.value.split('\n');
  const before = shown;
  let same = 0;
  while (same < before.length && before.at(-1 - same)?.text === texts.at(-1 - same)) same += 1;
  const below = before.splice(before.length - same);
  const end = texts.length - same;
  shown = texts.map((text, i) => ({ text, operation: (i < end ? before[i] : below[i - end])?.operation }));
  return before.slice(end);
}

/** A waiting line that the user corrects goes on waiting. One that the user takes out waits again if the user puts it back. */
export function typed() {
  removed.push(...tasksOf(readTyped()).map((task) => retitle(task, '')));
  for (const line of shown) {
    line.operation ??= take(removed, ({ title }) => title === titleOf(line.text));
    if (line.operation) line.operation = retitle(line.operation, line.text);
  }
  const others = linesOf(withoutLines(area.value, titlesOf(waits())));
  keyed = keyed.filter(({ title }) => take(others, (other) => other === title));
  keepAddDraft();
}

/** Keeps the new text of a waiting task, or that it is gone. The task is not sent before the user has left the field. */
function retitle(task: Operation, text: string): Operation {
  const isRemoved = text.trim() === '';
  const title = isRemoved ? task.title : titleOf(text);
  if (title === task.title && isRemoved === (task.isRemoved ?? false)) return task;
  const fresh = { ...task, title, isRemoved, at: Date.now() };
  void correct(task, fresh).then(keepAddDraft);
  return fresh;
}

/** Drops the tasks of lines that the user has taken out or left empty. What the user has corrected may be sent. */
function endCorrection() {
  const empty = tasksOf(shown.filter(isBlank));
  displace(empty);
  void release(page);
  dropRemoved([...removed, ...empty]);
  removed = [];
}

/** Drops new tasks that the user has taken out. */
function dropRemoved(tasks: Operation[]) {
  if (tasks.length > 0) void drop(...tasks);
  for (const { key } of tasks) {
    const sent = operationOf(key)?.sentAs?.[0];
    if (sent) complain(`\u2068${sent}\u2069: This may be in the list already.`);
  }
}

function leaveCorrection() {
  endCorrection();
  if (!isOffline()) sendSoon();
}

area.onblur = leaveCorrection;
document.addEventListener('visibilitychange', leaveCorrection);

/** Shows a text. By default, it differs only before the cursor. */
function show(text: string, behind = area.value.length - area.selectionEnd) {
  area.value = text;
  const before = shown;
  shown = text
    .split('\n')
    .map((each) => ({ text: each, operation: take(before, (line) => line.text === each)?.operation }));
  removed.push(...tasksOf(before.filter(isBlank)));
  area.setSelectionRange(text.length - behind, text.length - behind);
  countTasks(single);
}

/** Returns one line of the field for each title. */
function linesWith(titles: string[]): Line[] {
  const lines = [...shown];
  return titles.flatMap((title) => take(lines, ({ text }) => titleOf(text) === title) ?? []);
}

/** Takes lines out of the field. The cursor stays in its line. */
function takeOut(lines: Line[]) {
  const above = area.value.slice(0, area.selectionEnd).split('\n');
  const column = above.pop()?.length ?? 0;
  const isLeft = (line: Line) => !lines.includes(line);
  const textOf = (some: Line[]) =>
    some
      .filter(isLeft)
      .map(({ text }) => `${text}\n`)
      .join('');
  const text = textOf(shown).slice(0, -1);
  const position = textOf(shown.slice(0, above.length)).length + column;
  shown = shown.filter(isLeft);
  show(text.replace(/^\n+/, ''), text.length - position);
}

/** Adds a task for each line. Unsaved text returns to the field after a failure. */
export function add() {
  endComposition();
  endCorrection();
  const { value } = area;
  // The server explains why it refuses a blank line.
  const texts = linesOf(value).length > 0 ? linesOf(value) : [value];
  const tasks = takeTasks(texts);
  forget();
  explain(single, '');
  // A form would not tell that the server has a line with an earlier title.
  const hasWaited = tasks.some(({ waited }) => waited);
  if (hasWaited || (isOffline() && value.trim())) void addLater(tasks);
  else sendAll(tasks);
  // Keeps a phone's keyboard open after a tap on Add.
  area.focus();
}

/** Each line has its own key. A line that has had one keeps it, so the server adds it once. */
function takeTasks(texts: string[]): NewTask[] {
  const nextKey = lineKeys(formKey(single));
  setFormKey(single);
  const waiting = waits();
  displace(waiting);
  return texts.map((text) => {
    const hasText = ({ title }: Keyed) => title === text;
    const waited = take(waiting, hasText);
    const known = waited ?? take(keyed, hasText);
    return newTask(text, known?.key ?? nextKey(), waited);
  });
}

/** Returns a function that makes the keys of new lines from the form's key. */
function lineKeys(key: string) {
  let count = 0;
  return () => {
    count += 1;
    return count === 1 ? key : `${key}-${count}`;
  };
}

function newTask(text: string, key: string, waited: Operation | undefined): NewTask {
  const data = new FormData(single);
  data.set('title', text);
  data.set('nonce', key);
  const operation = { key, title: text, at: Date.now(), page };
  return { text, data, operation, waited };
}

/** Keeps the tasks, which stay in the field and are sent once there is a connection. */
async function addLater(tasks: NewTask[]) {
  const lines = tasks.map(({ operation, waited }) => waited ?? { ...operation, waits: true });
  // The next task starts a new line, even after a reload.
  const texts = area.value.split('\n');
  const last = texts.findLastIndex((text) => text.trim());
  show([...texts.slice(0, last + 1), ''].join('\n'), 0);
  place(lines);
  // The field still has the focus. A tap may only bring back the keyboard of a phone.
  startLineAtTap();
  keepAddDraft();
  await keepLines(lines);
  // Some may have been sent meanwhile.
  const refused = waits().filter((line) => lines.includes(line) && !isKept(line));
  if (refused.length > 0) {
    displace(refused);
    sendAll(tasks.filter(({ operation }) => refused.some(({ key }) => key === operation.key)));
  }
  keepAddDraft();
  endUndo();
  sendSoon();
}

function sendAll(tasks: NewTask[]) {
  for (const { text, operation } of tasks) {
    operation.sentAt = operation.at;
    operation.sentAs = [text];
  }
  const titles = tasks.map(({ text }) => text);
  for (const field of textFieldsOf(single)) if (field.name !== 'title') field.value = '';
  takeOut(linesWith(titles));
  // A task that is kept needs no draft.
  const kept = keepLines(tasks.map(({ operation }) => operation));
  kept.then(keepAddDraft);
  for (const task of tasks) send(task, kept);
}

function send(task: NewTask, kept: Promise<boolean>) {
  const key = newKey();
  pending.push(task);
  change({
    canWait: true,
    request() {
      // An earlier task has failed.
      if (!pending.includes(task)) return undefined;
      return { url: single.action, init: post(task.data, key) };
    },
    saved() {
      say('Added', task.text.trim().normalize());
      pending = pending.filter((each) => each !== task);
      void drop(task.operation);
      keepAddDraft();
    },
    failed: (failure) => takeBack(task, failure, key, kept),
  });
}

/** Returns the text of `task` and of all later tasks to the field. */
async function takeBack(task: NewTask, failure: Failure, key: string, kept: Promise<boolean>) {
  if (isComposing) {
    area.addEventListener('composed', () => takeBack(task, failure, key, kept), { once: true });
    return;
  }
  // It was added by another request meanwhile.
  if (!pending.includes(task)) return;
  const { operation } = task;
  // Start a new line for the next task, unless the server rejected this one.
  const isRejected = failure.kind === 'invalid' || area.value !== '';
  show(isRejected ? unsaved() : `${unsaved()}\n`);
  const lines = pending.map((task) => ({ ...task.operation, waits: true }));
  pending = [];
  keyed = [...lines, ...keyed];
  keepAddDraft();
  if (mayWait(operation, failure) && (await kept)) {
    unkey(lines);
    place(lines);
    keepAddDraft();
    if (failure.kind === 'logged out') report(failure);
    return replace(...lines);
  }
  // The user decides whether to send a refused line again.
  void drop(...lines);
  refuse(single, withLimit(failure));
  remember(failure, key, () => leaveField(operation));
}

/** Takes an added task out of the field. */
function leaveField(task: Keyed) {
  takeOut(linesWith([task.title]));
  unkey([task]);
  keepAddDraft();
  explain(single, area.value.includes('\n') ? 'The rest was not sent. Please try again.' : '');
  say('Added', task.title.trim().normalize());
}

export function restoreAdd() {
  const draft = drafts()['/task'];
  restoreDraft(single);
  if (draft) hold(draftId);
  show(area.value);
  keyed = keysIn(draft);
  // No later line may have a key of the draft, or of the page's last visit, which the service worker shows.
  setFormKey(single);
  takeShared();
  // Before anything is sent.
  enqueue(takeOver);
}

/** The keys of a draft's lines. Those without one have the keys with which the page may have sent them before it ended. */
function keysIn({ title = '', keys = '[]', nonce = newKey() }: Values = {}): Keyed[] {
  const known: Keyed[] = JSON.parse(keys);
  const nextKey = lineKeys(nonce);
  const others = linesOf(withoutLines(title, titlesOf(known)));
  return [...known, ...others.map((line) => ({ key: nextKey(), title: line }))];
}

/** Takes a text of the page "A new task" that was not sent, and what another app has shared without a connection. */
function takeShared() {
  if (asked.pathname !== '/tasks/new') return;
  const lines: Keyed[] = [];
  const draft = takeDraft('/tasks');
  if (draft?.title) lines.push({ key: draft.nonce ?? newKey(), title: draft.title });
  const shared = sharedText((name) => asked.searchParams.get(name));
  if (shared) lines.push({ key: newKey(), title: shared });
  if (lines.length === 0) return;
  keyed = [...lines, ...keyed];
  show([area.value.trimEnd(), ...titlesOf(lines)].filter(Boolean).join('\n'));
  keepAddDraft();
}

/** This page as the owner of its lines. */
const page = newKey();

/** The draft of this session. A reload does not change its ID. */
const draftId = drafts()['/task']?.id ?? newKey();

function keepLines(lines: Operation[]): Promise<boolean> {
  hold(page);
  return keep(...lines);
}

/** Shows what was in the fields of pages that are gone, for example with a killed browser. */
async function takeOver() {
  await takeDrafts();
  await takeLines();
  if (!isOffline()) sendSoon();
}

async function takeDrafts() {
  for (const [id, draft] of Object.entries(await keptDrafts())) {
    // The session has restored it.
    if (id === draftId) continue;
    await ifGone(id, () => {
      keyed.push(...keysIn(draft));
      show([draft.title, area.value].filter(Boolean).join('\n'));
      keepAddDraft();
      return keepDraft(id);
    });
  }
}

async function takeLines() {
  await read();
  for (const owner of new Set(newTasks().map(({ page }) => page)))
    await ifGone(owner, async () => {
      const lines = newTasks().filter((line) => line.page === owner);
      const isRemoved = (line: Operation) => line.isRemoved === true;
      dropRemoved(lines.filter(isRemoved));
      const moved = lines
        .filter((line) => !isRemoved(line))
        .map((line) => ({ ...line, page, isHeld: false }));
      hold(page);
      await replace(...moved);
      // The user may have added the draft of one of them again meanwhile.
      const own = moved.filter((line) => isKept(line) && !waits().some(({ key }) => key === line.key));
      show([...titlesOf(own), withoutDraftOf(own)].join('\n'));
      place(own);
      keepAddDraft();
      settleLines([]);
    });
}

/** The text of the field without lines of a draft that wait, too. */
function withoutDraftOf(lines: Operation[]): string {
  const repeated = keyed.filter(({ key }) => lines.some((line) => line.key === key));
  unkey(repeated);
  return withoutLines(area.value, titlesOf(repeated));
}

/** What this device no longer keeps, although it may still be in the field. */
let gone: Operation[] = [];

/** Takes lines out of the field that have been sent, perhaps by another page. Shows why the server refused others. */
function settleLines(justGone: Operation[]) {
  gone.push(...justGone);
  if (isComposing) return;
  const isIn = (lines: Operation[]) => (line: Operation) => lines.some(isSame(line));
  // A line that waits for its turn may be sent as one that waits for a connection.
  pending = pending.filter(({ operation }) => !isIn(gone)(operation));
  const sent = waits().filter(isIn(gone));
  gone = [];
  const refused = newTasks()
    .filter(({ refusal }) => refusal !== undefined)
    .filter(isIn(waits()));
  if (sent.length + refused.length === 0) return;
  displace(refused);
  takeOut(shown.filter(({ operation }) => operation && sent.includes(operation)));
  if (refused[0]) explain(single, refused[0].refusal ?? '');
  void drop(...refused);
  keepAddDraft();
}

addEventListener('kept', (event) => settleLines((event as CustomEvent<Operation[]>).detail));
