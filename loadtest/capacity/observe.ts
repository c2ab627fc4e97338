import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { cpuTime, machineCpuTime, openFiles, residentMemory } from '../machine/process-usage.ts';
import type { OwnTarget } from '../target.ts';

/** What can be read of a stack at a moment. */
export interface Snapshot {
  /** Milliseconds, only ever growing. */
  at: number;
  /** Microseconds of CPU time so far. */
  cpu: Record<string, number>;
  /** The same of everything on this machine. */
  machine: number;
  memory: Record<string, number>;
  sockets: Record<string, number>;
  /** Milliseconds: the 99th percentile of the delay of the event loop since the last snapshot. */
  lag: Record<string, number>;
  /** Commands so far. */
  commands: Record<string, number>;
  /** Flushes of the disk with the store's data so far; what `appendfsync always` causes. NaN where it has none. */
  flushes: number;
}

/** @param beside microseconds of CPU time of what the load needs beside the stack, such as k6. */
export async function snapshot(stack: OwnTarget, beside: () => Record<string, number>): Promise<Snapshot> {
  const [lag, commands] = await Promise.all([
    mapAsync(stack.operations, eventLoopLag),
    mapAsync(stack.redis, commandsProcessed),
  ]);
  const own = mapValues(stack.processes, (pid) => pid() ?? 0);
  return {
    at: performance.now(),
    cpu: { ...mapValues(own, cpuTime), ...beside() },
    machine: machineCpuTime(),
    memory: mapValues(own, residentMemory),
    sockets: mapValues(own, (pid) => openFiles(pid).sockets),
    lag,
    commands,
    flushes: diskFlushes(stack.folder),
  };
}

async function eventLoopLag(socketPath: string): Promise<number> {
  const [response] = (await once(http.get({ socketPath, path: '/metrics' }), 'response')) as [
    IncomingMessage,
  ];
  return 1_000 * Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(await text(response))?.[1]);
}

async function commandsProcessed(path: string): Promise<number> {
  const redis = new Redis({ path });
  try {
    return Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]);
  } finally {
    redis.disconnect();
  }
}

/** Flush requests that the disk with `folder` has completed (the kernel's admin-guide/iostats, field 18). */
function diskFlushes(folder: string): number {
  const { dev } = statSync(folder);
  const disk = [dev >> 8, dev & 0xff].join(' ');
  const row = readFileSync('/proc/diskstats', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find(([major, minor]) => `${major} ${minor}` === disk);
  return Number(row?.[18] ?? Number.NaN);
}

const mapValues = <From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));

async function mapAsync<From, To>(record: Record<string, From>, change: (value: From) => Promise<To>) {
  const entries = Object.entries(record).map(async ([name, value]) => [name, await change(value)] as const);
  return Object.fromEntries(await Promise.all(entries)) as Record<string, To>;
}
