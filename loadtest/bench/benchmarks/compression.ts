import zlib from 'node:zlib';
import { spreadTable } from '../measure.ts';
import { integer, type Result } from '../report.ts';
import { startService } from '../services.ts';
import { importTasks } from '../tasks-session.ts';

export const title = 'Compression: what the page of 100 tasks costs in CPU and in bytes';

const rounds = 5;
const repetitions = 300;

/** The libraries of nginx's modules, in this process. Over plain HTTP browsers accept gzip and deflate only. */
export async function run(): Promise<Result[]> {
  await using tasks = await startService('tasks');
  await importTasks(tasks, 100);
  const page = Buffer.from(await (await fetch(tasks.url)).text());
  const { BROTLI_PARAM_QUALITY, ZSTD_c_compressionLevel } = zlib.constants;
  const gzip = (level: number) => () => zlib.gzipSync(page, { level });
  const brotli = (level: number) => () =>
    zlib.brotliCompressSync(page, { params: { [BROTLI_PARAM_QUALITY]: level } });
  const zstd = (level: number) => () =>
    zlib.zstdCompressSync(page, { params: { [ZSTD_c_compressionLevel]: level } });
  const ways: Record<string, () => Buffer> = {
    'gzip 1, as in nginx': gzip(1),
    'gzip 2': gzip(2),
    'gzip 4': gzip(4),
    'gzip 6': gzip(6),
    'brotli 1': brotli(1),
    'brotli 4': brotli(4),
    'zstd 1': zstd(1),
    'zstd 3': zstd(3),
  };
  const runs: Record<string, number[]> = {};
  for (const [name, compress] of Object.entries(ways)) {
    const bytes = integer(compress().length);
    runs[`${name}: ${bytes} bytes`] = Array.from({ length: rounds }, () => cpuOf(compress));
  }
  const title = `${integer(page.length)} bytes, compressed`;
  return [spreadTable({ title, unit: 'CPU µs', digits: 0, goals: [] }, runs)];
}

/** Microseconds of CPU time of one call. */
function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  for (let i = 0; i < repetitions; i += 1) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / repetitions;
}
