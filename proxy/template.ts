import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * Puts `values` into a template as envsubst does in the official nginx image: `${NAME}` and `$NAME` where
 * `values` has the name; all others, nginx's own variables among them, stay as they are.
 */
export function render(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(
    /\$(?:\{(?<braced>[A-Za-z_]\w*)\}|(?<bare>[A-Za-z_]\w*))/g,
    (reference, braced?: string, bare?: string) => values[braced ?? bare ?? ''] ?? reference,
  );
}

/** Renders every `*.template` of the folder `from` into the folder `to`, without that ending. */
export async function renderFolder(from: string, to: string, values: Readonly<Record<string, string>>) {
  await mkdir(to, { recursive: true });
  const templates = (await readdir(from)).filter((name) => name.endsWith('.template'));
  await Promise.all(
    templates.map(async (name) => {
      const text = await readFile(join(from, name), 'utf8');
      await writeFile(join(to, basename(name, '.template')), render(text, values));
    }),
  );
}
