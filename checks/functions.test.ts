import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type Node, parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';

const maxLines = 40;

/** The wiring and the route table read better in one piece. */
const longer = ['expander/src/expander.ts createExpander', 'tasks/src/app.ts createApp'];

/**
 * Counts the own lines of each function: without blank lines, comments, and the lines of the functions in it, so that a factory
 * may be longer.
 */
function functionsIn(file: string, source: string): { name: string; lines: number }[] {
  const found: { name: string; lines: number }[] = [];
  const text = source.split('\n');
  const isCode = (line: number) => !/^\s*(?:$|\/[/*]|\*)/.test(text[line - 1] ?? '');
  const lineOf = (offset: number) => source.slice(0, offset).split('\n').length;
  /** The first and last lines of the functions in each open function. */
  const open: { first: number; last: number }[][] = [];
  const leave = (node: Node) => {
    const first = lineOf(node.start);
    const last = lineOf(node.end);
    const inner = open.pop() ?? [];
    let lines = 0;
    for (let line = first; line <= last; line += 1) {
      const isInner = inner.some((other) => line > other.first && line <= other.last);
      if (isCode(line) && !isInner) lines += 1;
    }
    const name = 'id' in node && node.id && 'name' in node.id ? node.id.name : `line ${first}`;
    found.push({ name: `${file} ${name}`, lines });
    open.at(-1)?.push({ first, last });
  };
  const enter = () => open.push([]);
  new Visitor({
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': leave,
    FunctionExpression: enter,
    'FunctionExpression:exit': leave,
    ArrowFunctionExpression: enter,
    'ArrowFunctionExpression:exit': leave,
  }).visit(parseSync(file, source).program);
  return found;
}

const git = ['ls-files', '--', '*.ts', '*.js', ':!*.test.ts'];
const files = execFileSync('git', git, { encoding: 'utf8' }).trim().split('\n');

test(`functions have at most ${maxLines} lines of their own`, () => {
  const functions = files.flatMap((file) => functionsIn(file, readFileSync(file, 'utf8')));
  const long = functions.filter(({ name, lines }) => lines > maxLines && !longer.includes(name));
  expect(long).toEqual([]);
});

test('comments and the functions in a function do not count', () => {
  const source =
    'function outer() {\n  // Why.\n\n  const inner = () => {\n    a();\n    b();\n  };\n  return inner;\n}';
  expect(functionsIn('a.ts', source)).toEqual([
    { name: 'a.ts line 4', lines: 4 },
    { name: 'a.ts outer', lines: 4 },
  ]);
});
