import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchor } from '../proxy/pages/documents.ts';

const root = join(import.meta.dirname, '..');
const pages = globSync('**/*.md', {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|\.local|out)$/.test(path),
});
const makefile = readFileSync(join(root, 'Makefile'), 'utf8');

const read = (page: string) => readFileSync(join(root, page), 'utf8');
const matches = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, found]) => found as string);

/** Whether a link on `page` points to an existing file, and its fragment to a heading there. */
function resolves(page: string, link: string): boolean {
  const [path = '', fragment] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return false;
  return (
    fragment === undefined ||
    matches(read(target), /^#+ (.+)$/gm)
      .map(anchor)
      .includes(fragment)
  );
}

/** Whether a path exists below the page's folder or the root. */
const exists = (page: string, path: string) =>
  ['', dirname(page)].some((folder) => existsSync(join(root, folder, path)));

describe.each(pages)('%s', (page) => {
  const text = read(page);

  test('links only to existing files and headings', () => {
    const prose = text.replace(/^ {4}.*$/gm, '').replace(/`[^`\n]*`/g, '');
    const links = [...matches(prose, /\]\(([^)\s]+)\)/g), ...matches(prose, /^\[[^\]]+\]: (\S+)/gm)];
    const local = links.filter((link) => !/^[a-z]+:/.test(link));
    expect(local.filter((link) => !resolves(page, link))).toEqual([]);
  });

  test('mentions only existing files', () => {
    const paths = matches(
      text,
      /`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|js|json|lua|md|yml|conf|sh|html|css|eta|template))`/g,
    );
    expect(paths.filter((path) => !exists(page, path))).toEqual([]);
  });

  test('mentions only existing make targets', () => {
    const targets = matches(text, /(?:^ {4}|`|\d )make ([a-z-]+)/gm);
    expect(targets.filter((target) => !new RegExp(`^${target}:`, 'm').test(makefile))).toEqual([]);
  });
});
