import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';
import { startShortener } from '@longhand/shortener';
import { expect, onTestFinished, test } from 'vitest';
import { errorCodes as expanderCodes } from '../expander/src/expansion/errors.ts';
import { testExpander } from '../expander/testing/expander.ts';
import { scriptedApp, to } from '../expander/testing/scripted-web.ts';
import { serving } from '../expander/testing/serving.ts';
import { errorStatuses } from '../tasks/src/task/errors.ts';
import { useReplica } from '../tasks/testing/replica.ts';

const shortener = await startShortener();

const page = readFileSync(join(import.meta.dirname, 'api.md'), 'utf8');

/** Commands on the page with their documented output (after `#`). In the output, … matches any text. */
const commands = [...page.matchAll(/^ {4}((?:curl|printf) .*?)(?: +# (.*))?$/gm)].map(
  ([, command = '', output = '']) => ({ command, output: /[{}/]/.test(output) ? output : '…' }),
);

const kept = useReplica();

test('every command prints the documented output', async () => {
  expect(commands.length).toBeGreaterThan(14);
  const expander = await serving(testExpander().app);
  const folder = await mkdtemp(join(tmpdir(), 'longhand-api-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'more.json'), '[{"title":"Bread"}]');
  /** Replaces the URLs on the page with the URLs of this test. */
  const here = (text: string) =>
    text
      .replaceAll('http://localhost:8081/', expander.url)
      .replaceAll('http://localhost:8082/', kept.service.url)
      .replaceAll('/ID', '/1')
      .replaceAll('https://example.com/', `${shortener.url}/chain/0`)
      .replaceAll('sho.rt/', `${new URL(shortener.url).host}/chain/1?`);
  const env = { ...childEnvironment, PATH: process.env.PATH };
  for (const { command, output } of commands) {
    const silent = here(command).replaceAll('curl ', 'curl --silent --show-error ');
    // The event stream does not end.
    const line = command.startsWith('curl -N') ? `head -n 1 < <(${silent} 2>/dev/null)` : silent;
    const run = promisify(execFile)('timeout', ['30', 'bash', '-ec', line], { cwd: folder, env });
    const { code = 0, stdout } = await run.catch((error) => error);
    expect(code, line).toBe(0);
    expect(stdout === '', line).toBe(command.includes('> '));
    const pattern = here(output).split('…').map(RegExp.escape).join('.*');
    expect(stdout.trim(), line).toMatch(new RegExp(`^${pattern}$`, 's'));
    expect(stdout, line).not.toMatch(/<html|"status":[45]/);
  }
});

test('the page documents exactly the existing error codes', () => {
  const cells = [...page.matchAll(/^\| ((?:`[a-z_\d]+`,? ?)+) *\| +\d+ \|/gm)].map(([, cell = '']) => cell);
  const documented = cells.flatMap((cell) => cell.match(/[a-z_\d]+/g) ?? []);
  expect(documented.sort()).toEqual([...expanderCodes, 'empty', ...Object.keys(errorStatuses)].sort());
});

/** The fields in the first column of the table under a heading. */
function fieldsUnder(heading: string): (string | undefined)[] {
  const [, section = ''] = page.split(`### ${heading}\n`);
  const [table = ''] = section.split('\n#');
  return [...table.matchAll(/^\| `(\w+)`/gm)].map(([, field]) => field);
}

test('the page documents exactly the fields of /api/chain', async () => {
  const app = scriptedApp({
    'http://s.example/': to('https://www.google.com/url?q=http%3A%2F%2Fend.example%2F'),
    'http://end.example/': {
      ...{ bytesRead: 1, title: 'A page', incomplete: true, interrupted: true, scriptRedirect: true },
      laterRefresh: { seconds: 20, url: 'http://a.example/' },
      file: { name: 'a', size: null },
    },
  });
  const response = await app.request('/api/chain?u=s.example/&follow=all');
  const chain = (await response.json()) as { hops: object[] };
  expect(Object.keys(chain).sort()).toEqual(fieldsUnder('`/api/chain`').sort());
  const fields = chain.hops.flatMap((each) => Object.keys(each));
  expect([...new Set(fields)].sort()).toEqual(fieldsUnder('A hop').sort());
});
