/** The line at one place of two texts. It is missing in the shorter one. */
type ChangedLine = [was: string | undefined, is: string | undefined];

/** The lines from the first to the last that differ between two texts. */
export function changedLines(before: string, after: string): ChangedLine[] {
  const old = before.split('\n');
  const fresh = after.split('\n');
  const shorter = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shorter && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
  const length = Math.max(old.length, fresh.length) - start - end;
  const was = old.slice(start, old.length - end);
  const is = fresh.slice(start, fresh.length - end);
  return Array.from({ length }, (_, i) => [was[i], is[i]]);
}
