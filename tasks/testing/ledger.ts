import type { Task } from '../src/task/task.ts';
import type { Forwarded } from './relay.ts';
import type { Note } from './watch-list.ts';

/** A device in a storm: what its user has done and was told, and which of its requests have reached the service. */
export interface Device {
  /** Begins the titles of this user's tasks. */
  name: string;
  /** The words that this user has entered. A task's title begins with its word, and edits keep it. */
  entered: string[];
  notes: Note[];
  forwarded: Forwarded[];
}

type NoteOf<Kind> = Extract<Note, { kind: Kind }>;

const notesOf = <Kind extends Note['kind']>({ notes }: Device, kind: Kind) =>
  notes.filter((note): note is NoteOf<Kind> => note.kind === kind);

/** The word of a title. An edit appends `~` and a number. */
const wordOf = (title: string) => title.replace(/~.*/s, '');

/** Whether the service has done what a request asks for, or may have done it. */
const mayHaveHappened = ({ status = 0 }: Forwarded) => status < 400;

/** A request that sets whether a task is finished. */
interface Setting {
  id: string;
  finished: 0 | 1;
  time: number;
  status: number | undefined;
}

function settingOf(request: Forwarded): Setting | [] {
  const { method, path, body, time, status } = request;
  const [, id = '', action] = /^\/tasks?\/(\d+)(?:\/(finish|unfinish))?(?:\?|$)/.exec(path) ?? [];
  if (action) return { id, finished: action === 'finish' ? 1 : 0, time, status };
  const sent = method === 'PUT' ? JSON.parse(body).finished : new URLSearchParams(body).get('finished');
  return id && sent !== null ? { id, finished: Number(sent) as 0 | 1, time, status } : [];
}

/** The title in a form, or in the JSON of a line that has waited. */
function titleIn({ body }: Forwarded): string | undefined {
  const title = body.startsWith('{') ? JSON.parse(body).title : new URLSearchParams(body).get('title');
  return title?.trim();
}

/** The task that a request deletes, by its menu or by Undo of an add. */
function deletedBy({ method, path, body }: Forwarded): string | null | undefined {
  if (path.startsWith('/tasks/added')) return new URLSearchParams(body).get('first');
  const isDeletion = method === 'POST' && body.includes('_method=DELETE');
  return isDeletion ? /^\/tasks\/(\d+)/.exec(path)?.[1] : undefined;
}

/** Lists what the devices have lost, doubled, moved, or called saved too early. `known` has each task's id and title, deleted tasks included. */
export function compare(devices: Device[], found: Task[], known: { id: string; title: string }[]): string[] {
  return [
    ...compareTasks(devices, found, known),
    ...devices.flatMap((device) => compareDevice(device, devices, found)),
  ];
}

function compareTasks(devices: Device[], found: Task[], known: { id: string; title: string }[]): string[] {
  const faults: string[] = [];
  const words = known.map(({ title }) => wordOf(title));
  const entered = devices.flatMap((device) => device.entered);
  const deleted = devices.flatMap(({ forwarded }) => forwarded.map(deletedBy));
  for (const word of entered) {
    const count = words.filter((each) => each === word).length;
    if (count !== 1) faults.push(`${word} exists ${count} times`);
  }
  for (const { id, title } of known) {
    if (!entered.includes(wordOf(title))) faults.push(`nobody has entered ${title}`);
    if (!found.some(({ _id }) => _id === id) && !deleted.includes(id))
      faults.push(`nobody has deleted ${title}`);
  }
  return faults;
}

function compareDevice(device: Device, devices: Device[], found: Task[]): string[] {
  const faults = [
    ...notesOf(device, 'moved').map(({ what }) => `moved: ${what}`),
    ...notesOf(device, 'missed').map(({ aimedAt, hit }) => `a tap on task ${aimedAt} hit task ${hit}`),
    ...notesOf(device, 'said').flatMap((note) => saidTooEarly(note, device, devices)),
    ...notesOf(device, 'edited').flatMap((note) => lostEdit(note, device, found)),
  ];
  const ticks = notesOf(device, 'ticked');
  const settings = device.forwarded.flatMap(settingOf).filter(({ status = 0 }) => status < 400);
  for (const id of new Set(ticks.map((tick) => tick.id))) {
    const ticksOfTask = ticks.filter((tick) => tick.id === id);
    const last = ticksOfTask.at(-1);
    if (!last || isTold(device, last, found)) continue;
    const sent = settings.findLast((setting) => setting.id === id);
    const unsent = ticksOfTask.filter((tick) => tick.time > (sent?.time ?? 0));
    // A message may be about another change of the task, or about a tick that is dropped.
    const untold = unsent.filter((tick) => !isTold(device, tick, found));
    if (cancelOut(unsent) || cancelOut(untold)) continue;
    const isSent = sent !== undefined && sent.finished === last.finished && sent.time >= last.time;
    if (!isSent) faults.push(`lost: ${JSON.stringify(last)}, last sent ${JSON.stringify(sent)}`);
    const isShared = devices.some(
      (other) => other !== device && other.forwarded.flatMap(settingOf).some((setting) => setting.id === id),
    );
    const task = found.find(({ _id }) => _id === id);
    if (task && !isShared && task.finished !== last.finished)
      faults.push(`task ${id} is not as in ${JSON.stringify(last)}`);
  }
  return faults.map((fault) => `${device.name}: ${fault}`);
}

/** Whether the user has taken each of these ticks back, so that nothing is left to send. */
function cancelOut(ticks: NoteOf<'ticked'>[]): boolean {
  const [last, previous] = ticks.toReversed();
  return ticks.length % 2 === 0 && last?.finished !== previous?.finished;
}

/** Whether this user was told that a change of a task may have failed, or the task is gone. */
function isTold(device: Device, { id, time }: NoteOf<'ticked' | 'edited'>, found: Task[]): boolean {
  const task = found.find(({ _id }) => _id === id);
  if (!task) return true;
  // A conflict names the task at the end of its message.
  const names = ({ text }: NoteOf<'said'>) =>
    Array.from(text.matchAll(/\u2068([^\u2069:]*)/g), ([, name = '']) => name);
  return notesOf(device, 'said').some(
    (said) => said.time >= time && names(said).some((name) => wordOf(name) === wordOf(task.title)),
  );
}

/**
 * The service has answered before the page says that a task was added or saved. The page names the task by its current title,
 * which another device may have sent.
 */
function saidTooEarly({ text, time }: NoteOf<'said'>, device: Device, devices: Device[]): string[] {
  const [, verb, title = ''] = /^(Added|Saved): (.*)$/s.exec(text) ?? [];
  if (!verb) return [];
  // A store that is killed may have saved a task before the service responds with 503. The page asks the service later.
  const mayBeSaved = (request: Forwarded) => mayHaveHappened(request) || request.status === 503;
  const sentBy = ({ forwarded }: Device) =>
    forwarded
      .filter((request) => request.time <= time && mayBeSaved(request))
      .flatMap((request) => titleIn(request) ?? []);
  const isOwn = sentBy(device).some((sent) => wordOf(sent) === wordOf(title));
  const isSaved = devices.flatMap(sentBy).includes(title);
  return isOwn && isSaved ? [] : [`said ${text} too early`];
}

/** An edit is saved, replaced by the user's next edit of the same task, or its task is gone. */
function lostEdit(edit: NoteOf<'edited'>, device: Device, found: Task[]): string[] {
  const isGone = !found.some(({ _id }) => _id === edit.id);
  const isReplaced = notesOf(device, 'edited').some(
    (other) => other.id === edit.id && other.time > edit.time,
  );
  const isSent = device.forwarded.some(
    (request) => mayHaveHappened(request) && titleIn(request) === edit.title,
  );
  return isSent || isReplaced || isGone ? [] : [`lost: ${JSON.stringify(edit)}`];
}
