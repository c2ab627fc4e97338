// The page loads this file, too, and shows how the server will read a pasted list.

/** Markers of a list. `+` before a number is part of the title, as in `+ 5 %`. */
const bullets = [/^-\s+/, /^\*\s+/, /^\+\s+(?![\s\d])/];
const numbers = [/^(\d{1,5})\.\s+/, /^(\d{1,5})\)\s+/];

/** Check boxes and bullets that no title begins with. Apple's Notes and Reminders write `◦`, `◯` and `⁃` for open items. */
const openSymbols = '☐◯○□⬜◦⁃·•';
const finishedSymbols = '☑✔✓✅☒';

/** A check box in Markdown, perhaps after a marker, or as a symbol, and the title. Titles may contain U+2028 (flag `s`). */
const boxed = RegExp(
  String.raw`^(?:(?:[-*+]|\d{1,5}[.)])\s+)?(?:\[(?<box>[ xX]?)\]|(?:(?<finished>[${finishedSymbols}])|[${openSymbols}])\ufe0f?)\s+(?<title>.*)$`,
  'su',
);

/** Characters at the start of a text that decide about its markers. A long text must not block the event loop. */
export const maxStart = 64 * 1024;
const maxLines = 1_000;

/**
 * Returns the marker that the lines of a text begin with, if it is not part of their titles: all lines have the same bullet,
 * or at least two lines count up from 1. The lines `3. Oktober` and `12. Mai` have no marker.
 */
export function findMarker(text: string): RegExp | undefined {
  const lines = text
    .slice(0, maxStart)
    .replace(/^\ufeff/, '')
    .split('\n', maxLines)
    .filter((line) => line.trim())
    .map(withSpace);
  const bullet = bullets.find((marker) => lines.every((line) => marker.test(line)));
  if (bullet) return lines.length > 0 ? bullet : undefined;
  const countsUp = (marker: RegExp) => lines.every((line, i) => marker.exec(line)?.[1] === `${i + 1}`);
  return lines.length > 1 ? numbers.find(countsUp) : undefined;
}

/** Trims a line, except for a space that completes the marker of an empty item. */
const withSpace = (line: string) => `${line.trim()} `;

/**
 * Splits a line into its title and state. Check boxes are always removed.
 *
 * @param marker of the list, which is removed, too (see `findMarker`).
 */
export function readItem(line: string, marker: RegExp | undefined): { title: string; finished: 0 | 1 } {
  const text = withSpace(line);
  const groups = boxed.exec(text)?.groups;
  if (groups) {
    const isFinished = groups.finished !== undefined || (groups.box ?? '').trim() !== '';
    return { title: (groups.title ?? '').trimEnd(), finished: isFinished ? 1 : 0 };
  }
  return { title: (marker ? text.replace(marker, '') : text).trimEnd(), finished: 0 };
}
