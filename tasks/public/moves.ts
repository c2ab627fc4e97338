import { list, rows } from './dom.js';
import { isOffline } from './offline.js';

/** Milliseconds in which a tap may arrive that was aimed before a move. */
const aim = 400;

/** Milliseconds in which rows slide to their new places. */
const slide = 200;

/** One of the latest slides, which all end together. */
let sliding: Animation | undefined;

/** The vertical position on the page, without a slide that is under way. */
function topOf(part: HTMLElement) {
  const { top } = part.getBoundingClientRect();
  if (sliding?.playState !== 'running') return top + scrollY;
  const [, slid = '0'] = getComputedStyle(part).translate.split(' ');
  return top + scrollY - Number.parseFloat(slid);
}

/** The positions of the rows, and of the parts that move with them. */
function positions(): Map<HTMLElement, number> {
  const others = document.querySelectorAll<HTMLElement>('.bar, .find, #after, .clear, footer');
  return new Map([...rows(), ...others].map((part) => [part, topOf(part)]));
}

/** What the user has seen last. */
let seen = { tops: new Map<HTMLElement, number>(), scrollY };

/**
 * Scrolls by the least move of a visible row if the top of the list is out of sight, and lets taps on what has moved on the
 * screen do nothing.
 */
export function guardMoves({ isAnimated = false } = {}) {
  const before = seen;
  if (topOf(list()) < scrollY) scrollBy(0, leastMove());
  seen = { tops: positions(), scrollY };
  const moved = [...seen.tops].flatMap(([part, top]) => {
    const by = (before.tops.get(part) ?? Infinity) - top + scrollY - before.scrollY;
    return Math.abs(by) >= 1 ? { part, by } : [];
  });
  ignoreTaps(moved.map(({ part }) => part));
  if (!isAnimated || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  for (const { part, by } of moved) {
    if (Number.isFinite(by))
      sliding = part.animate({ translate: [`0 ${by}px`, '0'] }, { duration: slide, easing: 'ease-out' });
  }
}

/** Guards from now on. Whatever changes the page may move rows: the list, a form, a problem, a mark. */
export function watchMoves() {
  seen = { tops: positions(), scrollY };
  // The lines that wait are still missing, and slow phones take long to read them.
  if (isOffline()) ignoreTaps([...seen.tops.keys()]);
  // The browser calls this before the next tap.
  const observer = new MutationObserver(() => guardMoves());
  observer.observe(document.body, { attributes: true, characterData: true, childList: true, subtree: true });
  addEventListener('scroll', () => {
    seen.scrollY = scrollY;
  });
}

/** Returns the least move of a row that was visible, in pixels. */
function leastMove() {
  const moves = rows().flatMap((row) => {
    const top = seen.tops.get(row) ?? -1;
    const isVisible = top >= seen.scrollY && top < seen.scrollY + innerHeight;
    return isVisible ? topOf(row) - top : [];
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
