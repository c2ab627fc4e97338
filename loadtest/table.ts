/** Formats rows as text: aligned columns, the first to the left and the others to the right. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) ?? [];
  const cell = (text: string, i: number) =>
    i === 0 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0);
  return rows.map((row) => row.map(cell).join('  ')).join('\n');
}

/** Formats rows as a Markdown table; the first row is the header. */
export function markdownTable([header = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`;
  const separator = header.map((_, i) => (i === 0 ? '---' : '--:'));
  return [header, separator, ...rows].map(line).join('\n');
}
