import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { sendCommand } from '@longhand/deploy/native/control-socket.ts';
import { forEachLine } from '@longhand/deploy/native/lines.ts';
import { answersGet } from '@longhand/deploy/native/probes.ts';
import { freeStackPorts } from '@longhand/deploy/testing/stack-ports.ts';
import { startShortener } from '@longhand/shortener';
import { startRelay } from './relay.ts';
import type { RehearsedStack, Service } from './stack.ts';
import { until } from './until.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const main = join(root, 'deploy', 'native', 'main.ts');
const stopSignals: Partial<Record<Service, NodeJS.Signals>> = { proxy: 'SIGQUIT' };

/** A line of the runner's output, and when it came. */
interface Line {
  at: number;
  text: string;
}

/** The native stack whose runner has `folder`. @param lines its output, if somebody keeps it. */
async function control(
  folder: string,
  urls: RehearsedStack['urls'],
  lines: Line[] | undefined,
  smallDisk: boolean,
  end: () => Promise<void>,
): Promise<RehearsedStack> {
  const [shortener, other] = await Promise.all([startShortener(), startShortener()]);
  const pids = async (service: Service): Promise<string[]> => {
    const status = (await sendCommand(relative('', join(folder, 'stack.socket')), 'status')) ?? '';
    const processes = /processes +(.*)/.exec(status)?.[1]?.split(', ') ?? [];
    return processes.flatMap((entry) => (entry.startsWith(`${service} `) ? [entry.split(' ')[1] ?? ''] : []));
  };
  const socket = (name: string) => join(folder, 'run', `${name}.sock`);
  const linesOf = (service: Service, since: number): Line[] =>
    (lines ?? []).flatMap(({ at, text }) => {
      const [, name, words = ''] = /^(\S+) +\| (.*)/.exec(text) ?? [];
      return at >= since && name === service ? [{ at, text: words }] : [];
    });

  return {
    kind: 'native',
    urls,
    shortener: shortener.url,
    otherShortener: other.url,
    smallDisk,
    replicas: pids,
    async signal(pid, signal) {
      process.kill(Number(pid), signal);
    },
    async terminate(service, pid) {
      const start = Date.now();
      process.kill(Number(pid), stopSignals[service] ?? 'SIGTERM');
      await until(() => !isAlive(Number(pid)), 30);
      const seconds = (Date.now() - start) / 1_000;
      const said = () =>
        linesOf(service, start).flatMap(({ text }) => /^exited with (.*);/.exec(text)?.[1] ?? []);
      if (lines) await until(() => said().length > 0, 10);
      return { how: said()[0] ?? 'unknown', seconds };
    },
    exits: async (service, since) =>
      linesOf(service, since.getTime()).flatMap(({ at, text }) =>
        text.startsWith('exited with ') ? [at] : [],
      ),
    async settled() {
      for (const service of ['expander', 'tasks'] as const) {
        const count = (await pids(service)).length;
        const names = Array.from({ length: count }, (_, i) => (i === 0 ? service : `${service}-${i + 1}`));
        for (const name of names)
          await until(answersGet({ socketPath: socket(`${name}-ops`), path: '/readyz' }), 60);
      }
      await until(async () => (await fetch(urls.proxy).catch(() => undefined))?.ok === true, 60);
    },
    async redis(service, ...command) {
      return (await run('redis-cli', ['-s', socket(service), ...command])).stdout.trim();
    },
    async inside(service, script) {
      return (await run('sh', ['-c', script], { cwd: join(folder, service) })).stdout;
    },
    async relay(service, behaviour) {
      const path = socket(service);
      const behind = socket(`${service}-behind`);
      await rename(path, behind);
      const stop = await startRelay({ path }, { path: behind }, behaviour);
      await run('redis-cli', ['-s', behind, 'CLIENT', 'KILL', 'TYPE', 'normal']);
      return async () => {
        await stop();
        await rename(behind, path);
      };
    },
    log: async (service, since) => lines && linesOf(service, since.getTime()).map(({ text }) => text),
    async stop() {
      await end();
      await Promise.all([shortener.close(), other.close()]);
    },
  };
}

/** The native stack that runs in this checkout; undefined if none does. */
export async function findNative(urls: RehearsedStack['urls']): Promise<RehearsedStack | undefined> {
  const folder = join(root, '.local');
  const pid = await sendCommand(relative('', join(folder, 'stack.socket')), 'pid').catch(() => undefined);
  return pid === undefined ? undefined : control(folder, urls, undefined, false, async () => {});
}

/** Starts a native stack on free ports, with two replicas of each service and, for root, a small disk for the store. */
export async function startNative(): Promise<RehearsedStack> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-rehearsal-'));
  const data = join(folder, 'tasks-store');
  await mkdir(data);
  const smallDisk = await run('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', data]).then(
    () => true,
    () => false,
  );
  const { variables, urls } = await freeStackPorts();
  const { LONGHAND_REHEARSAL, ...env } = process.env;
  const lines: Line[] = [];
  const runner = spawn(process.execPath, [main, 'up', folder], {
    env: {
      ...env,
      ...variables,
      LONGHAND_REPLICAS: '2',
      EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const output of [runner.stdout, runner.stderr]) {
    forEachLine(output, (text) => {
      // Requests are no news, and there are thousands.
      if (!/\| (?:GET|POST|PUT|DELETE) /.test(text)) lines.push({ at: Date.now(), text });
    });
  }
  // Whatever ends this program, nothing keeps running.
  process.on('exit', () => runner.kill('SIGKILL'));
  const end = async () => {
    const exited = runner.exitCode === null ? once(runner, 'exit') : undefined;
    runner.kill('SIGTERM');
    await exited;
    if (smallDisk) await run('umount', ['--lazy', data]);
    await rm(folder, { recursive: true, force: true });
  };
  while (!lines.some(({ text }) => text.startsWith('Ctrl-C stops'))) {
    if (runner.exitCode !== null) {
      await end();
      throw new Error(`The stack did not start:\n${lines.map(({ text }) => text).join('\n')}`);
    }
    await sleep(50);
  }
  return control(folder, urls, lines, smallDisk, end);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
