import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

const services: Promise<Record<string, { mem_limit: string }>> = readFile(
  join(import.meta.dirname, '../../docker-compose.yml'),
  'utf8',
).then((text) => parse(text, { merge: true }).services);

/** Returns a service's memory limit in docker-compose.yml, in bytes. */
export async function memoryLimit(service: string): Promise<number> {
  const [, number, unit] = /^(\d+)([mg])$/.exec((await services)[service]?.mem_limit ?? '') ?? [];
  if (unit === undefined) throw new Error(`${service} has no mem_limit.`);
  return Number(number) * (unit === 'g' ? 1024 ** 3 : 1024 ** 2);
}

/** Returns the process IDs of a process's children. */
export async function childrenOf(pid: number): Promise<string[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const children = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8'));
  return (await Promise.all(children)).join(' ').split(' ').filter(Boolean);
}

/** Returns the resident memory (PSS, in bytes) of a process and its children. */
export async function residentBytes(pid: number): Promise<number> {
  const pids = [`${pid}`, ...(await childrenOf(pid))];
  const sizes = pids.map(async (one) => {
    const rollup = await readFile(`/proc/${one}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1]) * 1024;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
