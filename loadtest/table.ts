/** Formats rows as a Markdown table with aligned columns, the first to the left; the first row is the header. */
export function table([header = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = header.map((_, i) => Math.max(3, ...[header, ...rows].map((row) => row[i]?.length ?? 0)));
  const align = (text: string, i: number) =>
    i === 0 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0);
  const separator = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [header, separator, ...rows].map((row) => `| ${row.map(align).join(' | ')} |`).join('\n');
}
