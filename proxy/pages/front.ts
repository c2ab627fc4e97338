import { documentLinks, documentName } from './documents.ts';
import { page } from './page.ts';

/** The front page; nginx fills in the addresses of the applications. */
export const frontPage = (version: string) =>
  page(
    'Longhand',
    `<main>
<h1>Longhand</h1>
<p>Two small web applications.</p>
<h2><a href="<!--# echo var="expander_address" -->">Expander</a></h2>
<p>Where does a short URL lead? See each redirect and the end, without going there.</p>
<h2><a class="tasks" href="<!--# echo var="tasks_address" -->">Tasks</a></h2>
<p>A task list that works in any browser.</p>
</main>
<footer>
<nav aria-label="Documents">
${links(version)}
</nav>
</footer>`,
  );

const links = (version: string) =>
  Object.entries({ ...documentLinks, 'CHANGELOG.md': `Version ${version}` })
    .map(([source, words]) => `<a href="docs/${documentName(source)}">${words}</a>`)
    .join('\n');
