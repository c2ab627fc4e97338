import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Marked } from 'marked';
import { page } from './page.ts';

/** The documents that become pages, with the text of their links, in order. */
export const documentLinks = {
  'docs/install.md': 'Install',
  'docs/configuration.md': 'Configure',
  'docs/operate.md': 'Operate',
  'docs/api.md': 'Call it from a program',
  'CHANGELOG.md': 'Changes',
};

/** What a document is called in its URL. */
export const documentName = (source: string) => basename(source, '.md').toLowerCase();

/** The anchor that GitHub gives a heading. */
export const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/**
 * The documents of the checkout `root` as pages, by the paths of their files. Links to other files lead to `repository`, a
 * URL.
 */
export const documents = (root: string, repository: string): Record<string, string> =>
  Object.fromEntries(
    Object.keys(documentLinks).map((source) => {
      const text = readFileSync(join(root, source), 'utf8');
      const title = /^# (.*)/.exec(text)?.[1];
      const html = page(`${title} · Longhand`, render(source, text, repository));
      return [`docs/${documentName(source)}.html`, html];
    }),
  );

function render(source: string, text: string, repository: string): string {
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === 'link') token.href = target(source, token.href, repository);
    },
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchor(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
    },
  });
  const links = Object.entries(documentLinks).map(
    ([other, words]) =>
      `<a href="${documentName(other)}"${other === source ? ' aria-current="page"' : ''}>${words}</a>`,
  );
  // What is wider than a phone scrolls, with the keyboard too.
  const html = (marked.parse(text) as string)
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
  return `<header><nav aria-label="Longhand"><a href="../">Longhand</a>
${links.join('\n')}</nav></header>
<main>
${html}</main>`;
}

/** Where a link of `source` leads from its page. */
function target(source: string, href: string, repository: string): string {
  const { protocol, pathname, hash } = new URL(href, `file:///${source}`);
  if (protocol !== 'file:') return href;
  const path = pathname.slice(1);
  if (path === source) return hash;
  return Object.hasOwn(documentLinks, path) ? documentName(path) + hash : `${repository}/${path}${hash}`;
}
