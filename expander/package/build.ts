/**
 * Bundles the command and its imports into `out/`, with the code for `--follow=all` and for HTTP/2 in separate files.
 * Adds the licenses of the bundled packages.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'rolldown';

const out = join(import.meta.dirname, 'out');
await rm(out, { recursive: true, force: true });
const source = join(import.meta.dirname, '..', 'src', 'cli');
const command = join(source, 'longhand-expand.ts');
const { output } = await build({
  input: [command, join(source, 'run.ts')],
  platform: 'node',
  output: {
    dir: out,
    format: 'esm',
    // Every file takes 1 ms to load, so that all of `run.ts` is one file.
    codeSplitting: { groups: [{ name: 'start', tags: ['$initial'], test: (id) => id !== command }] },
    // Without mangling, errors keep the names of functions.
    minify: { mangle: false },
  },
});

const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
const packages = new Set(
  modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []),
);
await writeFile(join(out, 'LICENSES.txt'), (await Promise.all([...packages].map(license))).join('\n'));

async function license(folder: string): Promise<string> {
  const file = (await readdir(folder)).find((name) => /^licen[cs]e/i.test(name));
  if (!file) throw new Error(`${folder} has no license`);
  return `${folder.replace(/^.*node_modules\//, '')}\n\n${await readFile(join(folder, file), 'utf8')}`;
}
