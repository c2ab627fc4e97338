/** Number of single-character insertions, deletions and replacements that turn `from` into `to` (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, character] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + Number(character !== to[j - 1]);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Returns an error for each name that differs from a known name by at most two characters or by its case. */
export function nearMisses(names: readonly string[], known: readonly string[]): string[] {
  return names.flatMap((name) => {
    if (known.includes(name)) return [];
    const meant = known.find((each) => editDistance(name.toUpperCase(), each) <= 2);
    return meant ? [`${name}: unknown variable; did you mean ${meant}?`] : [];
  });
}
