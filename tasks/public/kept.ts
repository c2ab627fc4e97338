// What waits on this device until the server confirms it (ticks and new tasks), and drafts. IndexedDB keeps them even if the browser
// is killed at once, unlike localStorage, which browsers write seconds later. Without a secure connection or storage, nothing waits.
import type { Values } from './drafts.js';

/** A change that the server has not confirmed. It can be sent any number of times. */
export interface Operation {
  /** The task's ID, or the nonce of a new task. */
  key: string;
  title: string;
  /** The state that the user wants the task to have. Undefined for a new task. */
  finished?: 0 | 1;
  /** When the user made the change (milliseconds since 1970). Tells it from a later one with the same key. */
  at: number;
  /** The page whose field shows a new task. */
  page?: string;
  /** Whether the server did not answer. */
  waits?: boolean;
  /** When it was first sent (milliseconds since 1970). The server may have made the change. */
  sentAt?: number | undefined;
  /** The titles with which a new task was sent. The server may have added it with any of them. */
  sentAs?: string[] | undefined;
  /** Why the server refused a new task. It is not sent again. */
  refusal?: string;
  /** Whether the user has taken a new task out of the field, and may put it back. It is not sent. */
  isRemoved?: boolean;
  /** Whether the user is correcting a new task. No page sends it meanwhile. */
  isHeld?: boolean;
}

/** Maximum number of ticks and lines that may wait. */
export const maxWaiting = 200;

/** Milliseconds after which a change without an answer is sent again: its page may be gone. */
const patience = 20_000;

const openedAt = Date.now();

/** All changes of this device, oldest first, as last read. */
let operations: Operation[] = [];

export const newTasks = () => operations.filter(({ finished }) => finished === undefined);

/** The changes that nobody is sending. */
export function waiting(): Operation[] {
  const due = Math.max(openedAt, Date.now() - patience);
  const isWanted = ({ refusal, isRemoved }: Operation) => refusal === undefined && !isRemoved;
  return operations.filter(isWanted).filter(({ waits, at }) => waits || at < due);
}

let database: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    if (!isSecureContext) return reject();
    const request = indexedDB.open('waiting');
    request.onupgradeneeded = () => request.result.createObjectStore('operations');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

const otherPages = new BroadcastChannel('kept');
otherPages.onmessage = () => void read();

/** Replaces what is stored in one step, even if other pages do so, too. Rejects if the browser cannot store it. */
async function update<T>(key: 'all' | 'drafts', act: (stored: T | undefined) => T): Promise<T> {
  database ??= open();
  const transaction = (await database).transaction('operations', 'readwrite');
  const store = transaction.objectStore('operations');
  const found: IDBRequest<T | undefined> = store.get(key);
  return new Promise((resolve, reject) => {
    let next: T;
    found.onsuccess = () => {
      next = act(found.result);
      if (next !== found.result) store.put(next, key);
    };
    transaction.oncomplete = () => resolve(next);
    transaction.onabort = () => reject(transaction.error);
  });
}

/** Changes all operations, or none if the browser cannot store them. Dispatches `kept` with those that are gone. */
async function change(act: (all: Operation[]) => Operation[]): Promise<void> {
  let stored: Operation[] | undefined;
  try {
    const all = await update<Operation[]>('all', (found) => {
      stored = found;
      return act(found ?? []);
    });
    const gone = operations.filter(({ key }) => !all.some((one) => one.key === key));
    operations = all;
    if (all !== stored) otherPages.postMessage('changed');
    dispatchEvent(new CustomEvent('kept', { detail: gone }));
  } catch {
    // The storage is blocked or full.
  }
}

/** Texts in fields of this device that do not wait, by the ID of the draft. */
type Drafts = Record<string, Values>;

const updateDrafts = (act: (drafts: Drafts) => Drafts) =>
  update<Drafts>('drafts', (found = {}) => act(found)).catch((): Drafts => ({}));

/** Keeps a draft, or drops it. A browser that is killed forgets the session's. */
export const keepDraft = (id: string, draft?: Values) =>
  updateDrafts((drafts) => {
    const { [id]: earlier, ...others } = drafts;
    if (draft) return { ...others, [id]: draft };
    return earlier ? others : drafts;
  });

/** Returns all drafts of this device. */
export const keptDrafts = () => updateDrafts((drafts) => drafts);

/** Whether two are the same change. A later one of the user has the same key, but another time. */
export const isSame = (a: Operation) => (b: Operation) => a.key === b.key && a.at === b.at;

/** The change with this key, as last read. */
export const operationOf = (key: string) => operations.find((one) => one.key === key);

/** Whether this device keeps the change, as last read. */
export const isKept = (operation: Operation) => operations.some(isSame(operation));

/** Whether no further change can wait. */
export const isFull = () => operations.length >= maxWaiting;

/** Keeps changes instead of earlier ones with their keys, as many as may wait. Returns whether the browser has stored all of them. */
export async function keep(...added: Operation[]): Promise<boolean> {
  await change((all) => {
    // What is kept already knows when it was sent.
    const fresh = added.filter((one) => !all.some(isSame(one)));
    const next = [...all.filter((old) => !fresh.some(({ key }) => key === old.key)), ...fresh];
    return next.slice(0, maxWaiting);
  });
  return added.every(isKept);
}

/** Replaces changes, unless the user has made later ones. */
export const replace = (...fresh: Operation[]) =>
  change((all) => all.map((one) => fresh.find(isSame(one)) ?? one));

/** Changes a new task to `fresh`, if this device still keeps `line`. It may have been sent meanwhile. */
export const correct = (line: Operation, { title, isRemoved, at }: Operation) =>
  change((all) =>
    all.map((one) => (isSame(line)(one) ? { ...one, title, isRemoved, at, isHeld: true } : one)),
  );

/** Lets pages send what the user has corrected on `page`. */
export function release(page: string) {
  const isHeldBy = (one: Operation) => one.isHeld === true && one.page === page;
  return change((all) =>
    all.some(isHeldBy) ? all.map((one) => (isHeldBy(one) ? { ...one, isHeld: false } : one)) : all,
  );
}

/** Drops changes, unless the user has made later ones. */
export const drop = (...gone: Operation[]) => change((all) => all.filter((one) => !gone.some(isSame(one))));

/** Forgets everything, because the user logs out. */
export async function forgetAll() {
  await change(() => []);
  // The field now has a draft without what has waited.
  await updateDrafts(() => ({}));
}

/** Reads what waits. */
export const read = () => change((all) => all);
