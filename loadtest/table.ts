/** Rows of cells as text: columns of even width, the first one to the left and the others to the right. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) ?? [];
  const cell = (text: string, i: number) =>
    i === 0 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0);
  return rows.map((row) => row.map(cell).join('  ')).join('\n');
}

/** The same as Markdown; the first row holds the titles. */
export function markdownTable([titles = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`;
  const rule = titles.map((_, i) => (i === 0 ? '---' : '--:'));
  return [titles, rule, ...rows].map(line).join('\n');
}
