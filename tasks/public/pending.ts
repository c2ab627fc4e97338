import { showPending } from './dom.js';

/** A change without a response yet. Its rows show the state `as`. */
export interface Pending {
  rows: HTMLElement[];
  as?: 'finished' | 'open' | 'gone' | undefined;
}

/** The changes under way, oldest first. */
const underWay: Pending[] = [];

/** What to do after the changes under way. */
let next: (() => void) | undefined;

// The change may be lost if the user leaves the page.
addEventListener('beforeunload', (event) => {
  if (isBusy()) event.preventDefault();
});

export const isBusy = () => underWay.length > 0;

export function begin(change: Pending) {
  underWay.push(change);
  showStates(change.rows);
}

export function end(change: Pending) {
  underWay.splice(underWay.indexOf(change), 1);
  showStates(change.rows);
  if (isBusy() || !next) return;
  const step = next;
  next = undefined;
  step();
}

/** Shows the state of each row after its last change under way, or the one that it waits for (see waiting.ts). */
export function showStates(changed: HTMLElement[]) {
  document.body.classList.toggle('busy', isBusy());
  for (const row of changed) {
    const last = underWay.findLast(({ rows, as }) => as && rows.includes(row));
    showPending(row, last?.as ?? (row.dataset.waits as Pending['as']));
  }
}

// The server's rows have the labels of their confirmed states.
addEventListener('listshown', () => showStates(underWay.flatMap(({ rows }) => rows)));

/** Runs `step` once after all changes under way, unless one of them fails. */
export function afterChanges(step: () => void) {
  if (isBusy()) next = step;
  else step();
}

export function cancelNext() {
  next = undefined;
}
