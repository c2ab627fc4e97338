import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { type Report, type Row, rounds } from './measure.ts';
import { startShortener } from './programs.ts';

const packageFolder = join(import.meta.dirname, '..', '..', 'expander', 'package');
const links = 1_000;
const redirects = 3;
const inFlight = '50';

/** Latency of each response (ms). */
const delay = 30;

/** Protocols by name. `options` start the shortener. */
const protocols = [
  { name: 'HTTP/2', scheme: 'https', options: ['--http2'] },
  { name: 'HTTP/1.1 over TLS', scheme: 'https', options: [] },
  { name: 'http', scheme: 'http', options: [] },
];

/** Compares the packaged command with `curl --parallel`, over each protocol. */
export async function measureCommand(): Promise<Report> {
  await usage([process.execPath, join(packageFolder, 'build.ts')]);
  await using folder = await mkdtempDisposable(join(tmpdir(), 'longhand-bench-'));
  const files = Object.fromEntries(
    ['key', 'cert', 'urls', 'curl'].map((name) => [name, join(folder.path, name)]),
  ) as Record<'key' | 'cert' | 'urls' | 'curl', string>;
  const certificate = await testCertificate();
  await writeFile(files.key, certificate.key);
  await writeFile(files.cert, certificate.cert);
  const rows: Row[] = [];
  for (const { name, scheme, options } of protocols) {
    const tls = scheme === 'https' ? ['--key', files.key, '--cert', files.cert] : [];
    await using shortener = await startShortener(...tls, ...options);
    const { port } = new URL(shortener.url);
    const runs = { ours: [] as Usage[], curl: [] as Usage[] };
    for (let round = 0; round < rounds.count; round += 1) {
      const path = `${scheme}://localhost:${port}/chain/${redirects}?delay=${delay}`;
      const urls = Array.from({ length: links }, (_, i) => `${path}&id=${round}-${i}`);
      await writeFile(files.urls, `${urls.join('\n')}\n`);
      await writeFile(files.curl, urls.map((url) => `url = "${url}"\n`).join(''));
      const format = '%{url_effective} %{num_redirects}\n';
      const parallel = ['--parallel', '--parallel-max', inFlight, '--cacert', files.cert];
      runs.curl.push(await usage(['curl', ...parallel, '-sIL', '-w', format, '-K', files.curl]));
      const command = join(packageFolder, 'out', 'longhand-expand.js');
      const env = { NODE_EXTRA_CA_CERTS: files.cert };
      const ours = [process.execPath, command, `--concurrency=${inFlight}`];
      runs.ours.push(await usage(ours, files.urls, env));
    }
    const row = (what: string, of: keyof Usage) => ({
      name: `${name}: ${what}`,
      ours: runs.ours.map((run) => run[of]),
      plain: runs.curl.map((run) => run[of]),
      note: 'plain: `curl --parallel`',
    });
    rows.push(row('elapsed time', 'seconds'), row('CPU', 'cpu'));
  }
  const counted = `${links.toLocaleString('en')} links with ${redirects} redirects each`;
  const title = `longhand-expand: ${counted}, ${delay} ms per response, ${inFlight} in flight`;
  return { title, unit: 'seconds', rows };
}

/** Elapsed time and CPU time (s). */
interface Usage {
  seconds: number;
  cpu: number;
}

/**
 * Runs a program with the file `input` on stdin, and discards its output.
 *
 * @throws Error if the program fails.
 */
async function usage(
  program: string[],
  input = '/dev/null',
  more: Record<string, string> = {},
): Promise<Usage> {
  const script = 'TIMEFORMAT="%R %U %S"; time "$@" <"$0" >/dev/null';
  const env = { ...process.env, EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128', ...more };
  const { stderr } = await promisify(execFile)('bash', ['-c', script, input, ...program], { env });
  const last = stderr.trim().split('\n').at(-1) ?? '';
  const [seconds = Number.NaN, user = Number.NaN, system = Number.NaN] = last.split(' ').map(Number);
  return { seconds, cpu: user + system };
}
