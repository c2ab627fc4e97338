import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Report, type Row, rounds } from './measure.ts';
import { startShortener } from './programs.ts';

const packageFolder = join(import.meta.dirname, '..', '..', 'expander', 'package');
const redirects = 3;
const inFlight = '50';

/** `delay` is the latency of each response (ms). */
const lists = [
  { name: '20,000 links, no latency', links: 20_000, delay: 0 },
  { name: '3,000 links, 30 ms per response', links: 3_000, delay: 30 },
];

/** Compares the packaged command with `curl --parallel`. */
export async function measureCommand(): Promise<Report> {
  await usage([process.execPath, join(packageFolder, 'build.ts')]);
  await using shortener = await startShortener();
  await using folder = await mkdtempDisposable(join(tmpdir(), 'longhand-bench-'));
  const rows: Row[] = [];
  for (const { name, links, delay } of lists) {
    const runs = { ours: [] as Usage[], curl: [] as Usage[] };
    for (let round = 0; round < rounds.count; round += 1) {
      const path = `${shortener.url}/chain/${redirects}?delay=${delay}`;
      const urls = Array.from({ length: links }, (_, i) => `${path}&id=${round}-${i}`);
      const [list, config] = [join(folder.path, 'urls.txt'), join(folder.path, 'curl.txt')];
      await writeFile(list, `${urls.join('\n')}\n`);
      await writeFile(config, urls.map((url) => `url = "${url}"\n`).join(''));
      const format = '%{url_effective} %{num_redirects}\n';
      const curl = ['curl', '--parallel', '--parallel-max', inFlight, '-sIL', '-w', format, '-K', config];
      runs.curl.push(await usage(curl));
      const command = join(packageFolder, 'out', 'longhand-expand.js');
      runs.ours.push(await usage([process.execPath, command, `--concurrency=${inFlight}`], list));
    }
    const row = (what: string, of: keyof Usage) => ({
      name: `${name}: ${what}`,
      ours: runs.ours.map((run) => run[of]),
      plain: runs.curl.map((run) => run[of]),
      note: 'plain: `curl --parallel`',
    });
    rows.push(row('elapsed time', 'seconds'), row('CPU', 'cpu'));
  }
  const title = `longhand-expand: links with ${redirects} redirects each, ${inFlight} in flight`;
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
async function usage(program: string[], input = '/dev/null'): Promise<Usage> {
  const script = 'TIMEFORMAT="%R %U %S"; time "$@" <"$0" >/dev/null';
  const env = { ...process.env, EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' };
  const { stderr } = await promisify(execFile)('bash', ['-c', script, input, ...program], { env });
  const last = stderr.trim().split('\n').at(-1) ?? '';
  const [seconds = Number.NaN, user = Number.NaN, system = Number.NaN] = last.split(' ').map(Number);
  return { seconds, cpu: user + system };
}
