import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Shortener, startShortener } from '../../loadtest/shortener.ts';
import { createProgress } from './progress.ts';

let shortener: Shortener;
beforeAll(async () => {
  shortener = await startShortener();
});
afterAll(() => shortener.close());

async function run(args: string[], input = '') {
  const command = fileURLToPath(new URL('longhand-expand.ts', import.meta.url));
  const { PATH } = process.env;
  const child = spawn(process.execPath, [command, ...args], {
    env: { PATH, EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' },
  });
  child.stdin.on('error', () => {}).end(input);
  const exit = once(child, 'exit');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr, status: (await exit)[0] };
}

describe('longhand-expand', () => {
  test('expands the URLs of standard input and writes NDJSON', async () => {
    const { stdout, stderr, status } = await run(
      [],
      `${shortener.url}/chain/2\n\n${shortener.url}/chain/0\n`,
    );
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.sort((a, b) => a.line - b.line)).toMatchObject([
      { line: 1, longUrl: `${shortener.url}/chain/0`, redirectCount: 2, error: null },
      { line: 3, longUrl: `${shortener.url}/chain/0`, redirectCount: 0, error: null },
    ]);
    expect([stderr, status]).toEqual(['2 expanded, 0 of them failed\n', 0]);
  });

  test('writes TSV, ends with 1 where a URL failed, and leaves nothing raw that speaks to a terminal', async () => {
    const { stdout, status } = await run(['--format=tsv'], 'http://10.0.0.1/\u001b[2J\t\n');
    expect(stdout).toBe('1\thttp://10.0.0.1/%1B[2J%09\thttp://10.0.0.1/%1B[2J\t0\ttarget_refused\n');
    expect(status).toBe(1);
  });

  test('expands the URLs it is given, following all where it is told to', async () => {
    const { stdout } = await run(['--follow=all', '--format=tsv', `${shortener.url}/chain/1?status=307`]);
    expect(stdout).toContain('\t1\t\n');
  });

  test.each([['--follow=some'], ['--format=xml'], ['--nonsense']])(
    'says how it is used: %s',
    async (option) => {
      const { stderr, stdout, status } = await run([option]);
      expect(stderr).toContain(option);
      expect(stderr).toContain('longhand-expand [--follow=all]');
      expect([stdout, status]).toEqual(['', 2]);
    },
  );
});

describe('the progress bar', () => {
  test('is drawn on a terminal, ten times a second and at the end', () => {
    const drawn: string[] = [];
    let time = 0;
    const terminal = { isTTY: true, write: (text: string) => drawn.push(text) };
    const progress = createProgress(terminal, 4, () => time);
    progress.step(true);
    progress.step(true);
    time += 100;
    progress.step(false);
    progress.step(true);
    progress.end();
    expect(drawn).toEqual([
      '\r[#######-----------------------] 1/4',
      '\r[######################--------] 3/4, 1 failed',
      '\r[##############################] 4/4, 1 failed',
      '\n',
    ]);
  });
});
