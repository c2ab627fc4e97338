/** The pieces of which plots are made. */

export const escapeXml = (text: string) =>
  text.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Colours that people with any colour vision tell apart (Okabe and Ito), on light and dark pages. */
export const colors = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00'];

/** An SVG image with a title for those who do not see it. Its text has the page's colour. */
export const svg = (title: string, width: number, height: number, content: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" \
aria-label="${escapeXml(title)}" font-family="system-ui, sans-serif" font-size="13" fill="currentColor">\n${content}</svg>\n`;

export const text = (x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end' = 'start') =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escapeXml(content)}</text>\n`;

export const line = (x1: number, y1: number, x2: number, y2: number, opacity = 1, width = 1) =>
  `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" \
stroke="currentColor" stroke-opacity="${opacity}" stroke-width="${width}"/>\n`;

export const bar = (x: number, y: number, width: number, height: number, color: string, label: string) =>
  `<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(width, 0).toFixed(1)}" height="${height}" \
fill="${color}"><title>${escapeXml(label)}</title></rect>\n`;

/** A legend in a row: a square of each colour and its name. */
export function legend(names: readonly string[], x: number, y: number): string {
  let left = x;
  return names
    .map((name, i) => {
      const item =
        bar(left, y - 10, 10, 10, colors[i % colors.length] as string, name) + text(left + 15, y, name);
      left += 32 + name.length * 7.2;
      return item;
    })
    .join('');
}
