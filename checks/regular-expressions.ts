/**
 * Fails if a regular expression takes more than linear time, in a single match or in a repeated search, because hostile input
 * could then block a service. Tests are exempt. `make lint` runs this.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';
import { checkSync } from 'recheck';

/**
 * Limits steps instead of time, because a busy machine also slows down linear expressions. Only `timeout` is in milliseconds per
 * expression. The slowest expression takes half a second on an idle machine.
 */
const limits = { timeout: 60_000, attackTimeout: null, incubationTimeout: null, seedingTimeout: null };

const sources = ['*.ts', '*.js'];
const tests = [':!*.test.ts', ':!*/testing/*', ':!acceptance/*', ':!checks/*', ':!loadtest/*'];
const files = execFileSync('git', ['ls-files', '--', ...sources, ...tests], { encoding: 'utf8' })
  .trim()
  .split('\n');

const faults: string[] = [];
const known = new Map<string, string | undefined>();
for (const file of files) {
  const text = readFileSync(file, 'utf8');
  new Visitor({
    Literal(node) {
      if (!('regex' in node) || !node.regex) return;
      const { pattern, flags } = node.regex;
      const key = `/${pattern}/${flags}`;
      if (!known.has(key)) known.set(key, fault(pattern, flags) ?? fault(repeated(pattern), flags));
      const line = text.slice(0, node.start).split('\n').length;
      if (known.get(key)) faults.push(`${file}:${line}  ${key}  ${known.get(key)}`);
    },
  }).visit(parseSync(file, text).program);
}
for (const line of faults) console.error(line);
console.log(`${known.size} regular expressions, ${faults.length} with more than linear time`);
process.exitCode = faults.length > 0 ? 1 : 0;

/**
 * Returns a pattern that matches a whole text with as many steps as a repeated search for `pattern`. recheck judges only a
 * single match. `matchAll`, `replace` and `split` resume after each match, so they read text again that an attempt has read
 * beyond its match: `/a+b|a/g` needs quadratic time for `aaaa`.
 */
function repeated(pattern: string): string {
  return `^(?:(?:${pattern})|[^])*`;
}

function fault(pattern: string, flags: string): string | undefined {
  const found = checkSync(pattern, flags, limits);
  if (found.status === 'unknown') return `cannot be analysed (${found.error.kind})`;
  if (found.status === 'vulnerable')
    return `${found.complexity.summary} time, for example for ${found.attack.pattern}`;
}
