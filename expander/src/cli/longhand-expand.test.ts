import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';
import { type Shortener, startShortener } from '@longhand/shortener';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgress } from './progress.ts';

let shortener: Shortener;
beforeAll(async () => {
  shortener = await startShortener();
});
afterAll(() => shortener.close());

function start(args: string[]) {
  const command = fileURLToPath(new URL('longhand-expand.ts', import.meta.url));
  return spawn(process.execPath, [command, ...args], {
    env: { ...childEnvironment, EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' },
  });
}

async function run(args: string[], input = '') {
  const child = start(args);
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

  test('writes NDJSON with nothing raw in it that speaks to a terminal', async () => {
    const { stdout } = await run([], 'http://10.0.0.1/\u009b2J\u001b\u007f\u202e\n');
    expect(stdout).toMatch(/^[\x20-\x7e]+\n$/);
    expect(JSON.parse(stdout).url).toBe('http://10.0.0.1/\u009b2J\u001b\u007f\u202e');
  });

  test('passes over blank lines, and takes a first line that begins with a bracket for what it is', async () => {
    const { stdout, status } = await run(['--format=tsv'], '[::1]/x\n  \n\u00a0\t\nhttp://10.0.0.1/\n');
    const lines = stdout.trim().split('\n').sort();
    expect(lines).toEqual([
      expect.stringMatching(/^1\t\[::1\]\/x\t.*\ttarget_refused$/),
      expect.stringMatching(/^4\t.*\ttarget_refused$/),
    ]);
    expect(status).toBe(1);
  });

  test('ends quietly when its reader has had enough', async () => {
    const child = start([]);
    child.stdout.destroy();
    child.stdin.on('error', () => {}).end('http://10.0.0.1/\n'.repeat(100));
    const exit = once(child, 'exit');
    expect(await text(child.stderr)).toMatch(/^\d+ expanded, \d+ of them failed\n$/);
    expect(await exit).toEqual([1, null]);
  });

  test.skipIf(!existsSync('/proc/self/task'))('has threads for many slow names', async () => {
    const child = start([`${shortener.url.replace('127.0.0.1', 'localhost')}/hang`]);
    const workers = () => {
      const tasks = `/proc/${child.pid}/task`;
      const names = readdirSync(tasks).map((task) => readFileSync(`${tasks}/${task}/comm`, 'utf8'));
      return names.filter((name) => name === 'libuv-worker\n').length;
    };
    await expect.poll(workers).toBe(128);
    child.kill('SIGKILL');
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
