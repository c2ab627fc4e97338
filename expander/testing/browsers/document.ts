import { type Link, start } from './link.ts';

/** `docs/browsers.md`: where each link ends, in Chromium as with `follow=all`. */
export function documentOf(links: readonly Link[], ends: readonly string[]): string {
  const described = links.map((link, index) => ({ ...link, end: ends[index] ?? '' }));
  const groups = Map.groupBy(described, ({ group }) => group);
  const tables = [...groups].map(([group, [...rows]]) => {
    const differ = rows.some(({ chromium }) => chromium !== undefined);
    const head = ['What is sent', 'Where it ends', ...(differ ? ['Where it ends in Chromium'] : [])];
    const body = rows.map(({ sent, end, chromium }) =>
      [sent, end, ...(chromium ? [chromium] : [])].map(code),
    );
    return `## ${group}\n\n${[head, head.map(() => '---'), ...body].map(row).join('')}`;
  });
  const differences = links.filter(({ chromium }) => chromium !== undefined).length;
  return [introduction(links.length - differences), ...tables].join('\n');
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;

const introduction = (agreed: number) => `# Where links end in browsers

<!-- Written by a test: LONG=1 npx vitest run -u expander/src/browsers -->

Each of these links begins at \`${start}\`, whose website answers what the first column says. With
\`follow=all\` it ends at the URL in the second column. ${agreed} of them end there in Chromium too, fragment included: that
is what its address bar shows once nothing leads on. The last table has the others.

Every run of the tests compares Longhand with these tables, and some of the links with Chromium; \`make test-long\`
compares all of them.

- \`{meta}\` stands for \`<meta http-equiv=refresh content="0;url=/m">\`, \`{1;url=/m}\` for one with that content.
- \`␠\`, \`␉\` and \`␊\` stand for white space, \`‹fc›\` for a byte, \`‹u+00ad›\` for a character in UTF-8.
- A link that leads to no website stays where it is. \`error at\` says that neither shows a page.
`;

/** Long runs of a letter say no more than their beginning. */
function shortened(text: string): string {
  return text.replace(/x{40,}/g, (run) => `x…x (${run.length} times)`);
}

/** A code span in a table: with as many backticks around it as it needs. */
function code(long: string): string {
  const text = shortened(long);
  const fence = text.includes('`') ? '``' : '`';
  const space = /^`|`$|^$/.test(text) ? ' ' : '';
  return fence + space + text.replaceAll('|', '\\|') + space + fence;
}
