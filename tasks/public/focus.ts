import { list, rows } from './dom.js';

interface Neighbors {
  above: HTMLElement[];
  below: HTMLElement[];
}

function neighborsOf(row: HTMLElement): Neighbors {
  const all = rows();
  const at = all.indexOf(row);
  return { above: all.slice(0, at), below: all.slice(at + 1) };
}

/** The former neighbors of a focused row that has left its place. Arrow keys go on from there. */
let former: Neighbors = { above: [], below: [] };

/** Moves the focus from `row` to the list, where no key acts on a task. */
export function leave(row: HTMLElement) {
  former = neighborsOf(row);
  list().focus({ preventScroll: true });
}

/** Whether the focus is at the place of a row that has left. */
export const hasLeft = () => former.above.length + former.below.length > 0;

/** Skips `moved` rows when an arrow key goes on from a former place. */
export function skip(moved: HTMLElement[]) {
  const stays = (row: HTMLElement) => !moved.includes(row);
  former = { above: former.above.filter(stays), below: former.below.filter(stays) };
}

/** Returns the row above or below `row`, or near the place that the focused row has left. */
export function next(row: HTMLElement | null, key: 'ArrowUp' | 'ArrowDown') {
  const { above, below } = row ? neighborsOf(row) : former;
  former = { above: [], below: [] };
  const nearest = above.toReversed();
  const here = row ? [row] : [];
  const order = key === 'ArrowUp' ? [...nearest, ...here, ...below] : [...below, ...here, ...nearest];
  const usable = rows();
  return order.find((one) => usable.includes(one)) ?? usable[0];
}

/** Returns a function that restores the focus after a morph, to the control, its row, or the list. */
export function keepFocus() {
  const focused = document.activeElement as HTMLElement;
  const row = focused.closest<HTMLElement>('.tasks > li');
  return () => {
    const choice = [document.querySelector<HTMLElement>('body :focus'), focused, row, list()];
    choice.find((part) => part?.isConnected && part.checkVisibility())?.focus({ preventScroll: true });
  };
}
