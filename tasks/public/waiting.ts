// Ticks and new tasks wait on this device until the server confirms them.
import { bring, claim } from './calm.js';
import { change, enqueue, refresh } from './change.js';
import { rowsIn } from './dom.js';
import {
  drop,
  isFull,
  isKept,
  keep,
  maxWaiting,
  type Operation,
  operationOf,
  read,
  replace,
  waiting,
} from './kept.js';
import { complain, offersUndo, report, say, unsay } from './notice.js';
import { hadConnection, isOffline } from './offline.js';
import { showStates } from './pending.js';
import { type Failure, reach, sendOperation } from './request.js';
import { hasSession } from './stream.js';

const sentMessage = 'Sent.';

const idOf = (row: HTMLElement) => row.id.replace('task-', '');

/** Whether the user has since changed a kept tick, or another page has sent it. Sending it now would undo what is newer. */
function isOutdated(tick: Operation, isStored: boolean) {
  if (!isStored || isKept(tick)) return false;
  // Shows again what the row waits for.
  void read();
  return true;
}

/** Whether a change failed only because there was no connection, or no login. */
export const mayWait = ({ at }: Operation, { kind }: Failure) =>
  kind === 'logged out' || (kind === 'no answer' && !hadConnection(at));

/** Names the limit in a failure's message, if the change does not wait because too many others do. */
export function withLimit(failure: Failure): Failure {
  if (failure.wasNotSent && isFull())
    failure.message = `This needs a connection, because ${maxWaiting} changes wait already.`;
  return failure;
}

/** Returns the waiting tick that the user takes back before it was sent. Sending it could undo what others have done meanwhile. */
function takenBack(key: string, finished: 0 | 1, rows: HTMLElement[]): Operation | undefined {
  const earlier = waiting().find((operation) => operation.key === key);
  const isUnchanged = rows.some((row) => row.matches('.finished') === (finished === 1));
  return isUnchanged && earlier?.sentAt === undefined ? earlier : undefined;
}

/** A tick: a task's wanted state, and the request that reaches it. */
interface Tick extends Required<Pick<Operation, 'key' | 'title' | 'finished'>> {
  rows: HTMLElement[];
  request: () => { url: string; init: RequestInit };
  saved?: () => void;
  failed?: (failure: Failure) => void;
}

/** Undo is for the last change, which now waits. The user takes that back in its row or in the field. */
export const endUndo = () => say('');

/** Keeps a tick on this device until the server has made the change. Without a connection, it waits. */
export async function sendTick({ key, title, finished, rows, request, ...on }: Tick) {
  const at = Date.now();
  const waits = isOffline();
  const earlier = waits ? takenBack(key, finished, rows) : undefined;
  if (earlier) return drop(earlier);
  // A tick in its place may have been sent.
  const tick: Operation = { key, title, finished, at, waits, sentAt: waits ? operationOf(key)?.sentAt : at };
  for (const row of rows) delete row.dataset.waits;
  const kept = keep(tick);
  if (waits && (await kept)) {
    endUndo();
    sendSoon();
    return;
  }
  let isStored = false;
  void kept.then((stored) => {
    isStored = stored;
  });
  change({
    rows,
    as: finished ? 'finished' : 'open',
    canWait: true,
    request: () => (isOutdated(tick, isStored) ? undefined : request()),
    saved() {
      void drop(tick);
      on.saved?.();
    },
    async failed(failure) {
      on.failed?.(failure);
      if (!mayWait(tick, failure) || !(await kept)) {
        report(withLimit(failure));
        return drop(tick);
      }
      if (failure.kind === 'logged out') report(failure);
      await replace({ ...tick, waits: true });
      endUndo();
    },
  });
}

/** Shows the wanted state of each waiting row. */
function showTicks() {
  const wanted = new Map(waiting().map(({ key, finished }) => [key, finished ? 'finished' : 'open']));
  const waits = rowsIn(document).filter((row) => wanted.has(idOf(row)));
  const waited = rowsIn(document).filter((row) => row.dataset.waits !== undefined);
  for (const row of waited) delete row.dataset.waits;
  for (const row of waits) row.dataset.waits = wanted.get(idOf(row));
  showStates([...waited, ...waits]);
  if (wanted.size > 0) unsay(sentMessage);
}

/** Milliseconds after which a new task is not sent again. The server knows its nonce for a day (`day` in store.ts). */
const maxAge = 23 * 60 * 60 * 1_000;

/**
 * Sends an operation, unless the user changes it first. Refuses a new task that the server may have added so long ago that it would
 * add the task again.
 */
async function send(operation: Operation) {
  const { title, finished, sentAt = Date.now(), sentAs = [] } = operation;
  if (finished === undefined && Date.now() - sentAt > maxAge)
    return { refusal: 'This may be in the list already. If not, press Add.' };
  if (!sentAs.includes(title)) await replace({ ...operation, sentAt, sentAs: [...sentAs, title] });
  return isKept(operation) ? sendOperation(operation) : undefined;
}

let isSending = false;

/** Sends what waits, after the changes under way. After the end of the session, each response would ask for a login again. */
export function sendSoon() {
  if (isSending || !hasSession() || waiting().length === 0) return;
  isSending = true;
  enqueue(() =>
    navigator.locks.request('send', sendWaiting).finally(() => {
      isSending = false;
    }),
  );
}

/** Sends what waits until a request has no answer. Only one page of this device does so at a time. */
async function sendWaiting() {
  if (isOffline() && !(await reach())) return;
  await read();
  const added: Operation[] = [];
  let sent = 0;
  let refused = 0;
  for (const operation of waiting()) {
    // The user has changed it meanwhile, sends it again, or is changing it.
    if (!isKept(operation) || operation.isHeld) continue;
    const answer = await send(operation);
    if (!answer) continue;
    // Everything that waits needs a connection, or a login.
    if (answer === 'later') break;
    if ('refusal' in answer) {
      refused += 1;
      await refuse(operation, answer.refusal);
    } else {
      sent += 1;
      showSent(operation, `task-${answer.id}`);
      if (operation.finished === undefined) added.push(operation);
      else await drop(operation);
    }
  }
  if (sent + refused === 0) return;
  // A response counts as a connection, so a failure here would send the rest again at once.
  const isShown = await refresh().then(
    () => true,
    () => false,
  );
  // A new task stays in the field until the list shows it. Its key lets the page send it again.
  if (isShown) await drop(...added);
  if (refused === 0 && waiting().length === 0 && !offersUndo()) say(sentMessage);
}

/** Shows what the server has confirmed about a row. The list may take long to load. */
function showSent({ finished }: Operation, rowId: string) {
  if (finished === undefined) {
    bring([rowId]);
    return;
  }
  claim([rowId]);
  document.getElementById(rowId)?.classList.toggle('finished', finished === 1);
}

/** Drops a refused tick and says why. A refused line stays in the field, which says why. */
function refuse(operation: Operation, refusal: string) {
  if (operation.finished === undefined) return replace({ ...operation, refusal });
  const { key, title } = operation;
  complain(`\u2068${title}\u2069: ${refusal}`, { tasks: [{ id: `task-${key}`, title }] });
  return drop(operation);
}

addEventListener('connected', sendSoon);
addEventListener('listshown', showTicks);
addEventListener('kept', showTicks);
addEventListener('pageshow', () => void read());
