// What waits on this device for a connection: ticks, and the lines of the field for new tasks. It survives a reload and a killed
// browser. Without a secure connection or storage, nothing waits.

/** A state that the user wants a task to have. */
export interface Tick {
  title: string;
  finished: 0 | 1;
  /** When the user has ticked (milliseconds since 1970). */
  at: number;
  /** Whether the server did not answer. */
  waits?: boolean;
}

/** The text of the field, and the key of its first line. */
interface Lines {
  text: string;
  nonce: string;
}

/** Max number of ticks and of lines that may wait. */
const maxWaiting = 200;

function read<Value>(key: string): Value | undefined {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether the browser has stored the value. */
function write(key: string, value: object | undefined): boolean {
  if (!isSecureContext) return false;
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** The ticks without an answer, by the task's id. */
export const ticks = (): Record<string, Tick> => read('ticks') ?? {};

/** Keeps a tick until the server confirms it. Returns whether it is kept. */
export function keepTick(id: string, tick: Tick): boolean {
  const others = ticks();
  delete others[id];
  return Object.keys(others).length < maxWaiting && write('ticks', { ...others, [id]: tick });
}

/** Drops a tick, unless the user has ticked the task again. */
export function dropTick(id: string, { at }: Tick) {
  const left = ticks();
  if (left[id]?.at !== at) return;
  delete left[id];
  write('ticks', Object.keys(left).length > 0 ? left : undefined);
}

export const lines = () => read<Lines>('lines');

/** Keeps the lines of the field, which are sent once there is a connection. */
export function keepLines(kept: Lines): boolean {
  return kept.text.split('\n').length <= maxWaiting && write('lines', kept);
}

export const dropLines = () => write('lines', undefined);

/** Forgets everything, because the user logs out. */
export function forgetAll() {
  write('ticks', undefined);
  write('lines', undefined);
}
