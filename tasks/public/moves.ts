import { list, rows } from './dom.js';

/** Milliseconds in which a tap may arrive that was aimed before a move. */
const aim = 400;

/** Milliseconds in which rows slide to their new places. */
const slide = 200;

/** The vertical positions of the rows, and of the parts that move with them. */
function positions(): Map<HTMLElement, number> {
  const others = document.querySelectorAll<HTMLElement>('.bar, .find, #after, .clear, footer');
  return new Map([...rows(), ...others].map((part) => [part, part.getBoundingClientRect().top]));
}

/**
 * Returns a function to call after a change of the page. It scrolls by the least move of a visible row if the top of the list
 * is out of sight, and lets taps on what has moved do nothing.
 */
export function watchMoves() {
  const before = positions();
  return (isAnimated = false) => {
    if (list().getBoundingClientRect().top < 0) scrollBy(0, leastMove(before));
    const moved = [...positions()].flatMap(([part, top]) => {
      const by = (before.get(part) ?? Infinity) - top;
      return Math.abs(by) >= 1 ? { part, by } : [];
    });
    ignoreTaps(moved.map(({ part }) => part));
    if (!isAnimated || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    for (const { part, by } of moved) {
      if (Number.isFinite(by))
        part.animate({ translate: [`0 ${by}px`, '0'] }, { duration: slide, easing: 'ease-out' });
    }
  };
}

/** Returns the least move of a row that was visible, in pixels. */
function leastMove(before: Map<HTMLElement, number>) {
  const moves = rows().flatMap((row) => {
    const top = before.get(row) ?? -1;
    const isVisible = top >= 0 && top < innerHeight;
    return isVisible ? row.getBoundingClientRect().top - top : [];
  });
  return moves.toSorted((a, b) => Math.abs(a) - Math.abs(b))[0] ?? 0;
}

/** Lets taps on `parts` do nothing for a moment. */
export function ignoreTaps(parts: Element[]) {
  const guards = parts.map((part) => part.animate({ pointerEvents: ['none', 'none'] }, Infinity));
  const end = () => {
    for (const guard of guards) guard.cancel();
  };
  // The first frame may take long to show.
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(end, aim)));
}

/** Tints rows that somebody else has changed. */
export function tint(changed: Element[]) {
  for (const row of changed) row.animate({ backgroundColor: ['var(--tint)', 'var(--tint)'] }, 2_000);
}
