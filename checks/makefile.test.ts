import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const makefile = join(import.meta.dirname, '../Makefile');

/** A program that prints its arguments and variables, one per line. */
const program = `#!/bin/sh
printf '<%s>\\n' "$@" "ID=$ID" "LONGHAND_PORT=$LONGHAND_PORT" "ROWS=$ROWS" "SEED=$SEED"
`;
const programs = [
  ...['redis/backup', 'redis/drill', 'redis/restore', 'machine/packages', 'logs', 'compose/replace'],
].map((name) => `deploy/${name}.sh`);

/** A recipe that executes any part of this, quoted or not, creates the file `p`. */
const hostile = `$(shell touch p)a\n$(touch p)$$(touch p)\`touch p\` "; touch p; " '; touch p; ' ; touch p #`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhand-make-'));
  for (const name of [...programs, 'node_modules/.bin/node', 'node_modules/.bin/vitest']) {
    mkdirSync(join(folder, dirname(name)), { recursive: true });
    writeFileSync(join(folder, name), program);
    chmodSync(join(folder, name), 0o755);
  }
  writeFileSync(join(folder, 'package-lock.json'), '');
  writeFileSync(join(folder, 'node_modules/.package-lock.json'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs make with `words` as arguments and `variables` in the environment. Returns its output. */
const make = (words: string[], variables: Record<string, string> = {}) =>
  execFileSync('make', ['-f', makefile, ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH, NATIVE: '1', ...variables },
    encoding: 'utf8',
  });

/** Targets that pass on a variable, with the expected output for each value. */
const passed: [target: string, name: string, output: (value: string) => string][] = [
  ['backup', 'FILE', (value: string) => `<native>\n<${value}>\n`],
  ['drill', 'FILE', (value: string) => `<native>\n<${value}>\n`],
  ['restore', 'FILE', (value: string) => `<native>\n<${value}>\n`],
  ['logs', 'ID', (value: string) => `<${value}>\n<.local/stack.log>\n`],
  ['replace', 'SERVICE', (value: string) => `<${value}>\n`],
  // The Makefile does not mention LONGHAND_PORT. The recipe runs another make.
  ['up', 'LONGHAND_PORT', (value: string) => `<LONGHAND_PORT=${value}>\n`],
  ['test', 'SEED', (value: string) => `<SEED=${value}>\n`],
  // These recipes split the value into words.
  ['load', 'SCRIPT', () => '<loadtest/run.ts>\n'],
  ['load', 'ARGS', () => ''],
  ['rehearse', 'ROWS', (value: string) => `<ROWS=${value}>\n`],
  ['test', 'CHROMIUM', () => ''],
  ['ps', 'NATIVE', () => '<ps>\n'],
];
const targets = [...new Set(passed.map(([target]) => target))];

test('make passes variables on unchanged and never executes them', () => {
  const variables = Object.fromEntries(passed.map(([, name]) => [name, hostile]));
  const words = Object.keys(variables).map((name) => `${name}=${hostile}`);
  for (const printed of [make([...targets, ...words]), make(targets, variables)])
    for (const [, , output] of passed) expect(printed).toContain(output(hostile));
  expect(existsSync(join(folder, 'p'))).toBe(false);
});

test.each(['ps', 'down'])('make %s explains how to install missing packages', (target) => {
  const empty = mkdtempSync(join(folder, 'empty-'));
  const output = execFileSync('make', ['-f', makefile, target, 'NATIVE=1'], { cwd: empty, encoding: 'utf8' });
  expect(output).toBe('The stack is not installed: `make up` installs it.\n');
});

test('make test installs development packages that make up skips', () => {
  const fresh = mkdtempSync(join(folder, 'fresh-'));
  const write = (name: string, text: string) => {
    mkdirSync(join(fresh, dirname(name)), { recursive: true });
    writeFileSync(join(fresh, name), text, { mode: 0o755 });
  };
  const empty = '#!/bin/sh\n';
  for (const name of ['deploy/machine/packages.sh', 'bin/node', 'bin/vitest']) write(name, empty);
  write('package-lock.json', '');
  copyFileSync(makefile, join(fresh, 'Makefile'));
  write(
    'bin/npm',
    `${empty}echo npm "$@"; mkdir -p node_modules/.bin; : >node_modules/.package-lock.json
    case $* in *--omit=dev*) ;; *) : >node_modules/.bin/vitest; chmod +x node_modules/.bin/vitest ;; esac`,
  );
  const installations = (target: string) => {
    const env = { PATH: `${fresh}/bin:${process.env.PATH}`, NATIVE: '1' };
    return execFileSync('make', [target], { cwd: fresh, env, encoding: 'utf8' }).match(/^npm .*/gm) ?? [];
  };
  expect(installations('up')).toEqual(['npm ci --loglevel=error --omit=dev']);
  expect(installations('up')).toEqual([]);
  expect(installations('test')).toEqual(['npm ci --loglevel=error']);
  expect([...installations('up'), ...installations('test')]).toEqual([]);
  const later = new Date(Date.now() + 60_000);
  utimesSync(join(fresh, 'package-lock.json'), later, later);
  expect(installations('up')).toEqual(['npm ci --loglevel=error']);
});
