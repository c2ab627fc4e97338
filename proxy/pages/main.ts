/** Writes the pages that nginx serves into a folder: `node proxy/pages/main.ts FOLDER`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { documents, frontPage } from './documents.ts';
import { errorFiles } from './errors.ts';

const [folder = ''] = process.argv.slice(2);
const root = join(import.meta.dirname, '..', '..');
const { version, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const copied = ['expander.webmanifest', 'expander-192.png', 'expander-512.png'];
const files = {
  'index.html': frontPage(version),
  ...Object.fromEntries(copied.map((name) => [name, readFileSync(join(import.meta.dirname, name))])),
  ...errorFiles(),
  ...documents(root, `${repository}/blob/v${version}`),
};
for (const [path, content] of Object.entries(files)) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}
