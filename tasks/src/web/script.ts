import { hash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

/**
 * Reads the script at `path`, and strips types, comment lines, blank lines and needless spaces. Caches the result, because
 * stripping takes 25 % of the startup time.
 *
 * @param folder the cache; by default Node's compile cache, if enabled
 */
export function readScript(path: string, folder = getCompileCacheDir()): string {
  const source = readFileSync(path, 'utf8');
  if (!folder) return strip(source);
  // Another release may strip in another way.
  const input = [strip, commentLines, blankLines, spaces, source].join('\n');
  const kept = join(folder, `${hash('sha256', input)}.js`);
  try {
    return readFileSync(kept, 'utf8');
  } catch {
    return keep(strip(source), kept);
  }
}

/** Writes `script` to `path` atomically, even if the power fails. The folder may be read-only. */
function keep(script: string, path: string): string {
  try {
    writeFileSync(`${path}.${process.pid}`, script, { flush: true });
    renameSync(`${path}.${process.pid}`, path);
  } catch {}
  return script;
}

const commentLines = /^ *(?:\/\/.*|\/\*\*.*\*\/|\/\*\*|\*(?: .*)?|\*\/)$/gm;
const blankLines = /^ *\n/gm;

/** Indentation, and what types leave behind. No string of a script has two spaces. */
const spaces = /^ +| +(?= )/gm;

/** Strips the script without Node's warning that the function is experimental. */
function strip(source: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    const script = stripTypeScriptTypes(source.replaceAll(commentLines, ''));
    return script.replaceAll(blankLines, '').replaceAll(spaces, '');
  } finally {
    process.emitWarning = emitWarning;
  }
}
