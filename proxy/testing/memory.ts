import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The memory limits that docker-compose.yml sets, in bytes, by service. */
export async function memoryLimits(): Promise<Record<string, number>> {
  const text = await readFile(join(import.meta.dirname, '..', '..', 'docker-compose.yml'), 'utf8');
  const services = text.matchAll(/^ {2}([\w-]+):\n((?: {4}.*\n|\n)+)/gm);
  return Object.fromEntries(
    [...services].flatMap(([, name = '', body = '']) => {
      const [, number, unit] = /^ {4}mem_limit: (\d+)([mg])$/m.exec(body) ?? [];
      return number ? [[name, Number(number) * (unit === 'g' ? 1024 ** 3 : 1024 ** 2)]] : [];
    }),
  );
}

/** Bytes that a process and its children have resident, shared pages divided among those who share them. */
export async function residentBytes(pid: number): Promise<number> {
  const processes = [pid, ...(await childrenOf(pid))];
  const sizes = await Promise.all(processes.map(ownBytes));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8')),
  );
  return lists.join(' ').split(' ').filter(Boolean).map(Number);
}

async function ownBytes(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1]) * 1024;
}
