import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Marked } from 'marked';
import { page } from './page.ts';

/** Documents to publish as pages, with the link text for each. */
const documentLinks = {
  'docs/install.md': 'Install',
  'docs/configuration.md': 'Configure',
  'docs/operate.md': 'Operate',
  'docs/api.md': 'Call it from a program',
  'CHANGELOG.md': 'Changes',
};

const documentName = (source: string) => basename(source, '.md').toLowerCase();

/** Returns GitHub's anchor for a heading. */
export const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** Renders the documents in the checkout `root` as pages, by path. Links to unpublished files point to `repository`. */
export const documents = (root: string, repository: string): Record<string, string> =>
  Object.fromEntries(
    Object.keys(documentLinks).map((source) => {
      const text = readFileSync(join(root, source), 'utf8');
      const title = /^# (.*)/.exec(text)?.[1];
      const html = page(`${title} · Longhand`, render(source, text, repository));
      return [`docs/${documentName(source)}.html`, html];
    }),
  );

const links = (folder: string, current = '') =>
  Object.entries(documentLinks)
    .map(([source, words]) => {
      const here = source === current ? ' aria-current="page"' : '';
      return `<a href="${folder}${documentName(source)}"${here}>${words}</a>`;
    })
    .join('\n');

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
  // Make wide elements scrollable, even by keyboard.
  const html = (marked.parse(text) as string)
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
  return `<header><nav aria-label="Longhand"><a href="../">Longhand</a>
${links('', source)}</nav></header>
<main>
${html}</main>`;
}

/** Converts a link target in the document `source` to a URL for the rendered page. */
function target(source: string, href: string, repository: string): string {
  const { protocol, pathname, hash } = new URL(href, `file:///${source}`);
  if (protocol !== 'file:') return href;
  const path = pathname.slice(1);
  if (path === source) return hash;
  return Object.hasOwn(documentLinks, path) ? documentName(path) + hash : `${repository}/${path}${hash}`;
}

/** Renders the front page. nginx inserts the applications' addresses. */
export const frontPage = (version: string) =>
  page(
    'Longhand',
    `<main>
<h1>Longhand</h1>
<p>Two small web applications.</p>
<h2><a href="<!--# echo var="expander_address" -->">Where does it lead?</a></h2>
<p>Where does a short URL lead? See every redirect and the final URL before you open it.</p>
<h2><a class="tasks" href="<!--# echo var="tasks_address" -->">Tasks</a></h2>
<p>A task list that works in any browser.</p>
</main>
<footer>
<nav aria-label="Documents">
${links('docs/').replace('>Changes<', `>Version ${version}<`)}
</nav>
</footer>`,
  );
