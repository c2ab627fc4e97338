import { escapeXml } from '../svg.ts';

const style = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
  h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
  .wide { overflow-x: auto; } svg { max-width: 100%; height: auto; }
  table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .875rem; }
  th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid #8886; white-space: nowrap; }
  th:first-child, td:first-child { text-align: left; padding-left: 0; }
  .passed, .faster { color: light-dark(#00683a, #5fd39b); } .failed, .slower { color: light-dark(#b3261e, #ff8a80); }
  .busy { color: light-dark(#8a5a00, #ffc266); } .verdict { font-weight: 600; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; font-size: .875rem; }
  dt { opacity: .75; } dd { margin: 0; overflow-wrap: anywhere; }
`;

/** A page that stands alone, without scripts. */
export const page = (title: string, body: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeXml(title)}</title>
<style>${style}</style>
<body>
${body}
</body>
</html>
`;

/** Rows of text; the first is the header. */
export function htmlTable([header = [], ...rows]: readonly (readonly string[])[]): string {
  const head = header.map((name) => `<th scope="col">${escapeXml(name)}</th>`).join('');
  const body = rows
    .map((row) => `<tr>${row.map((cell) => `<td>${escapeXml(cell)}</td>`).join('')}</tr>\n`)
    .join('');
  return `<div class="wide"><table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body}</tbody></table></div>\n`;
}

export const htmlList = (entries: Record<string, string>) =>
  `<dl>${Object.entries(entries)
    .map(([name, value]) => `<dt>${escapeXml(name)}</dt><dd>${escapeXml(value)}</dd>\n`)
    .join('')}</dl>\n`;
