import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** An indented block of shell commands in a document. */
export interface Block {
  /** Path of the document. */
  readonly page: string;
  /** The commands, without the indentation. */
  readonly lines: readonly string[];
}

/** Returns every block of shell commands in README.md, docs/ and deploy/. */
export function shellBlocks(): Block[] {
  const pages = globSync(['README.md', '{docs,deploy}/**/*.md'], { cwd: root }).toSorted();
  return pages.flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    const blocks = [...text.matchAll(/(?<=\n\n)(?: {4}.*\n)+/g)].map(([block]) =>
      block
        .trimEnd()
        .split('\n')
        .map((line) => line.slice(4)),
    );
    return blocks.filter(isShell).map((lines) => ({ page, lines }));
  });
}

/** Other blocks are the lines of `.env`, or YAML. */
function isShell([first = '', ...others]: string[]): boolean {
  const isSetting = (line: string) => /^[A-Z_]+=\S*(\s+#.*)?$/.test(line);
  const isYaml = /^\w+:( |$)/.test(first);
  return !isYaml && ![first, ...others].every(isSetting);
}
