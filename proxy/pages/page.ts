import { readFileSync } from 'node:fs';

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8').trim();
const icon = `data:image/svg+xml,${encodeURIComponent(read('icon.svg'))}`;
const style = read('style.css');

/**
 * Renders a page. `title` and `body` are HTML. The Content-Security-Policy in proxy-pages.headers contains the hash of the
 * styles.
 */
export const page = (title: string, body: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`;
