import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { testUnless } from '@longhand/shared/testing/unless.ts';
import { startShortener } from '@longhand/shortener';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { website } from '../../testing/website.ts';
import { createCommandExpander } from './expander.ts';
import { readOptions } from './options.ts';
import { createProgress, formats } from './output.ts';

const shortener = await startShortener();
const command = fileURLToPath(new URL('longhand-expand.ts', import.meta.url));

function start(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [command, ...args], {
    env: { ...childEnvironment, EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8', ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Waits for the end of the command. */
async function endOf(child: ReturnType<typeof start>) {
  const exit = once(child, 'exit');
  return { stderr: await text(child.stderr), status: (await exit)[0] };
}

async function run(args: string[], input = '', env: Record<string, string> = {}) {
  const child = start(args, env);
  child.stdin.on('error', () => {}).end(input);
  const [stdout, end] = await Promise.all([text(child.stdout), endOf(child)]);
  return { stdout, ...end };
}

describe('longhand-expand', () => {
  test('writes an NDJSON result for each line as it arrives', async () => {
    const child = start([]);
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const url = `${shortener.url}/chain/2`;
    for (const [sent, line, cached] of [
      [url, 1, false],
      [`\n${url}`, 3, true],
    ] as const) {
      child.stdin.write(`${sent}\n`);
      const { value } = await lines.next();
      const result = { longUrl: `${shortener.url}/chain/0`, redirectCount: 2, error: null };
      expect(JSON.parse(`${value}`)).toMatchObject({ line, ...result, cached });
    }
    child.stdin.end();
    expect(await endOf(child)).toEqual({ stderr: '2 processed, 0 failed\n', status: 0 });
  });

  test('writes no raw control characters', () => {
    const error = { code: 'target_refused', message: '' } as const;
    const verdict = { end: error, reason: 'Refused\u001b[31m', warning: null };
    const failed = {
      line: 1,
      longUrl: 'http://a.example/\u202e',
      redirectCount: 0,
      cached: false,
      error,
      ...verdict,
    };
    expect(formats.tsv({ ...failed, url: 'http://a.example/\u001b[2J\u202e\u2066\t' })).toBe(
      '1\thttp://a.example/%1B[2J%E2%80%AE%E2%81%A6%09\thttp://a.example/%E2%80%AE\t0\ttarget_refused\ttarget_refused\t\tRefused%1B[31m\n',
    );
    const url = 'http://a.example/\u009b2J\u001b\u007f\u202e';
    const ndjson = formats.ndjson({ ...failed, url });
    expect(ndjson).toMatch(/^[\x20-\x7e]+\n$/);
    expect(JSON.parse(ndjson).url).toBe(url);
  });

  test('exits quietly if the reader of its output exits', async () => {
    const child = start([]);
    child.stdout.destroy();
    child.stdin.on('error', () => {}).write('http://10.0.0.1/\n'.repeat(100));
    expect(await endOf(child)).toEqual({ stderr: '', status: 1 });
  });

  test.each<[string, Record<string, string>, string]>([
    ['--follow=some', {}, '--follow=some: use default or all'],
    ['--format=xml', {}, '--format=xml: use ndjson or tsv'],
    ['--concurrency=0', {}, '--concurrency=0: use a whole number from 1 to 256'],
    ['--concurrency=257', {}, '--concurrency=257'],
    ['--timeout=x', {}, '--timeout=x'],
    ['--nonsense', {}, '--nonsense'],
    ['', { EXPANDER_MAX_REDIRECT: '21' }, 'EXPANDER_MAX_REDIRECT=21: is not a whole number from 0 to 20'],
    ['', { EXPANDER_ALLOWED_NETWORKS: 'here' }, 'is not a list of networks such as 127.0.0.0/8,::1/128'],
    ['', { EXPANDER_MAX_REDIRECTS: '5' }, 'EXPANDER_MAX_REDIRECTS: unknown variable'],
  ])('names the invalid option or variable: %s %o', (option, env, fault) => {
    expect(() => readOptions([option], env)).toThrow(fault);
  });

  test('prints its usage after an error', async () => {
    const { stderr, stdout, status } = await run(['--format=\u001b\u202e']);
    expect(stderr).toContain('--format=\\u001b\\u202e: use ndjson or tsv\n\nUsage: longhand-expand');
    expect([stdout, status]).toEqual(['', 2]);
  });

  test('ignores variables of the service and the load tests', () => {
    const env = { EXPANDER_CLIENT_RATE: '1r/m', EXPANDER_KEYS_FILE: '/keys', EXPANDER_URL: 'x' };
    expect(readOptions([], env)).toEqual(readOptions([], {}));
  });

  testUnless(!existsSync('/dev/full') && 'needs /dev/full')('reports a failed write in one line', () => {
    const { stderr, status } = spawnSync(process.execPath, [command, 'http://10.0.0.1/'], {
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
      env: childEnvironment,
    });
    expect([`${stderr}`, status]).toEqual([expect.stringMatching(/^longhand-expand: ENOSPC.*\n$/), 2]);
  });

  const expand = async (url: string, ...args: string[]) =>
    (await createCommandExpander(readOptions(args, { EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' })))(url);

  test('applies --max-redirect and --timeout', async () => {
    expect(await expand(`${shortener.url}/chain/3`, '--max-redirect=1')).toMatchObject({
      longUrl: `${shortener.url}/chain/1`,
      redirectCount: 2,
      error: null,
    });
    const { error } = await expand(`${shortener.url}/hang`, '--timeout=1');
    const message = `${new URL(shortener.url).host} did not respond within 0.375 seconds.`;
    expect(error).toMatchObject({ code: 'timeout', message });
  });

  test('applies --timeout to reading a page', async () => {
    const url = await website(({ method }, response) => {
      response.setHeader('Content-Type', 'text/html');
      if (method === 'HEAD') response.end();
      // The default timeout would stop reading this page after 2.75 s.
      else
        setTimeout(() => response.end('<meta http-equiv=refresh content="0;url=http://10.0.0.1/">'), 3_000);
    });
    const { longUrl, error } = await expand(url, '--follow=all', '--timeout=600');
    expect([longUrl, error?.code]).toEqual(['http://10.0.0.1/', 'target_refused']);
  });

  test.each([
    ['HTTP/1.1', {}],
    ['HTTP/2', { http2: true }],
  ])('expands https URLs over %s', async (_, options) => {
    const certificate = await testCertificate();
    const secure = await startShortener({ tls: certificate, ...options });
    onTestFinished(() => secure.close());
    const url = secure.url.replace('127.0.0.1', 'localhost');
    const NODE_EXTRA_CA_CERTS = textFile(certificate.cert);
    const { stdout } = await run(['--format=tsv', `${url}/chain/1`], '', { NODE_EXTRA_CA_CERTS });
    expect(stdout).toBe(
      `1\t${url}/chain/1\t${url}/chain/0\t1\t\tfinal\t\tIt leads to ${new URL(url).host}\n`,
    );
    const { error } = await expand(`${url}/chain/1`);
    expect(error?.message).toContain('has a certificate that cannot be verified');
  });

  test('--help prints a manual with all options', async () => {
    const report =
      'process.on("exit", () => console.error(process.getBuiltinModule("module").getCompileCacheDir()))';
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(report)}`;
    const { stdout, stderr, status } = await run(['--help'], '', { NODE_OPTIONS, NODE_COMPILE_CACHE: '' });
    for (const option of ['concurrency', 'follow', 'format', 'max-redirect', 'timeout', 'help'])
      expect(stdout).toContain(`--${option}`);
    expect(stderr).toContain(`${import.meta.dirname}/.cache/`);
    expect(status).toBe(0);
  });

  test('loads only those parts of Node that an http URL needs', async () => {
    const report = 'process.on("exit", () => console.error(JSON.stringify(process.moduleLoadList)))';
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(report)}`;
    const { stderr } = await run([`${shortener.url}/chain/1`], '', { NODE_OPTIONS });
    const modules: string[] = JSON.parse(stderr.split('\n').find((line) => line.startsWith('[')) ?? '');
    const loaded = modules.map((name) => name.replace('NativeModule ', ''));
    expect(loaded).toContain('net');
    const unused = ['http', 'https', 'http2', 'tls', '_http_server', 'zlib'];
    // Loaded by `import` from `node:fs` and `node:util`, which takes 5 ms.
    unused.push('internal/fs/promises', 'internal/util/diff');
    expect(loaded.filter((name) => unused.includes(name))).toEqual([]);
  });
});

/** Sends an endless list of URLs of about `size` characters. @returns a function that returns the number of sent URLs. */
function endless({ stdin }: ReturnType<typeof start>, size: number) {
  let sent = 0;
  const urls = async function* () {
    for (; ; sent += 1) yield `http://10.0.0.1/${sent}${'x'.repeat(size)}\n`;
  };
  Readable.from(urls()).pipe(stdin.on('error', () => {}));
  return () => sent;
}

describe('a list from a pipe', () => {
  test('starts and formats a result without Intl and collation, which take 20 ms to load', async () => {
    const NODE_OPTIONS =
      '--import=data:text/javascript,delete%20globalThis.Intl;delete%20String.prototype.localeCompare';
    const { status, stderr } = await run([`${shortener.url}/chain/2`], '', { NODE_OPTIONS });
    expect([stderr, status]).toEqual(['1 processed, 0 failed\n', 0]);
  });

  test('expands --concurrency URLs at a time until Ctrl-C', async () => {
    const before = shortener.requests.get('HEAD /hang') ?? 0;
    const inProgress = () => (shortener.requests.get('HEAD /hang') ?? 0) - before;
    const child = start(['--concurrency=70']);
    child.stdin.write(`${shortener.url}/chain/1\n`);
    await once(child.stdout, 'data');
    child.stdin.write(Array.from({ length: 200 }, (_, i) => `${shortener.url}/hang?${i}\n`).join(''));
    await expect.poll(inProgress).toBeGreaterThanOrEqual(70);
    child.kill('SIGINT');
    expect(await endOf(child)).toEqual({ stderr: '1 processed, 0 failed: interrupted\n', status: 130 });
    expect(inProgress()).toBe(70);
  });

  test('stops on Ctrl-C even if the reader of the output hangs', async () => {
    const child = start([]);
    const sent = endless(child, 8_000);
    await expect.poll(sent).toBeGreaterThan(60);
    child.kill('SIGINT');
    expect(await endOf(child)).toEqual({ stderr: expect.stringMatching(/: interrupted\n$/), status: 130 });
  });

  test('is read no faster than the results are consumed', async () => {
    const child = start(['--format=tsv']);
    const sent = endless(child, 1_000);
    const settled = async () => {
      for (let before = -1; before !== sent(); ) {
        before = sent();
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    };
    await expect.poll(sent).toBeGreaterThan(100);
    await settled();
    expect(sent()).toBeLessThan(2_000);
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    for (let i = 0; i < 3_000; i += 1) expect((await lines.next()).value).toContain('target_refused');
  });

  test('needs constant memory at any length', { timeout: 600_000 }, async () => {
    const count = rounds({ short: 150_000, long: 1_000_000 });
    const urls = Array.from({ length: count }, (_, i) =>
      i % 16 ? `http://10.0.0.1/${i}\n` : `${shortener.url}/chain/1?id=${i % 500}\n`,
    );
    // This heap is too small to hold all the lines.
    const { stdout } = await run([], urls.join(''), { NODE_OPTIONS: '--max-old-space-size=40' });
    expect(stdout.split('\n')).toHaveLength(count + 1);
  });
});

test('the counts on a terminal are updated ten times a second', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const drawn: string[] = [];
  const progress = createProgress(true, (text) => drawn.push(text));
  progress.step(true);
  progress.step(true);
  vi.advanceTimersByTime(100);
  progress.step(false);
  progress.step(true);
  progress.end();
  expect(drawn).toEqual(['\r1 processed, 0 failed', '\r3 processed, 1 failed', '\r4 processed, 1 failed\n']);
});
