import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { chmod, chown, cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Runner, type Started } from '../testing/runner.ts';
import { childPrefix, unprivilegedAccount, unusedId } from './privileges.ts';

const isRoot = process.getuid?.() === 0;
const somebodyElse = { uid: 64_999, gid: 64_999 };

/** Runs a command as another user; what it printed. */
function asSomebodyElse(command: string, ...args: string[]): string {
  const [program = '', ...words] = [...childPrefix({ account: somebodyElse }), command, ...args];
  return spawnSync(program, words, { encoding: 'utf8' }).output.join('');
}

/** Every process of a group. */
const members = (group: number) =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /, '').split(' ')[2]) === group;
      } catch {
        return false;
      }
    });

/** The TCP ports that processes of a group listen on. */
function listeningPorts(group: number): number[] {
  const open = members(group).flatMap((pid) =>
    readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return '';
      }
    }),
  );
  const sockets = ['tcp', 'tcp6'].flatMap((family) =>
    readFileSync(`/proc/net/${family}`, 'utf8').trim().split('\n').slice(1),
  );
  const ports = sockets
    .map((line) => line.trim().split(/\s+/))
    // 0A is LISTEN.
    .filter(([, , , state, , , , , , inode]) => state === '0A' && open.includes(`socket:[${inode}]`))
    .map(([, local = '']) => Number.parseInt(local.split(':')[1] ?? '', 16));
  return [...new Set(ports)].toSorted();
}

describe('On a machine with other users', { timeout: 120_000 }, () => {
  const runner = new Runner(beforeAll, afterAll);
  let started: Started;
  beforeAll(async () => {
    started = await runner.up();
  });

  test('only the proxy listens on TCP, and what the stack writes is closed to others', async () => {
    const processes = await runner.processes();
    const { proxy, ...inner } = processes;
    for (const pid of Object.values(inner)) expect(listeningPorts(pid)).toEqual([]);
    expect(listeningPorts(proxy ?? 0)).toEqual(Object.values(runner.ports).toSorted());

    const others = (path: string) => statSync(join(runner.folder, path)).mode & 0o077;
    for (const path of ['run', 'proxy', 'tasks-store', 'expander-cache', 'stack.sock', 'stack.log']) {
      expect([path, others(path)]).toEqual([path, 0]);
    }
    for (const name of readdirSync(join(runner.folder, 'tasks-store', 'appendonlydir'))) {
      expect([name, others(join('tasks-store', 'appendonlydir', name))]).toEqual([name, 0]);
    }
    for (const name of readdirSync(join(runner.folder, 'run'))) {
      expect([name, others(join('run', name))]).toEqual([name, 0]);
    }
  });

  test('the operations endpoints answer on their Unix sockets, as the output says', async () => {
    const commands = started.output().match(/curl --unix-socket \S+ http:\/\/localhost\/metrics/g) ?? [];
    expect(commands).toHaveLength(2);
    for (const command of commands) {
      expect(spawnSync(command, { shell: true, encoding: 'utf8' }).stdout).toContain(
        'http_server_request_duration_seconds',
      );
    }
  });

  test.runIf(isRoot)('started by root, no process is root or has a capability', async () => {
    expect(started.output()).not.toContain('runs as root');
    for (const [name, pid] of Object.entries(await runner.processes())) {
      for (const member of members(pid)) {
        const status = readFileSync(`/proc/${member}/status`, 'utf8');
        expect([name, /^Uid:\s+(\d+)/m.exec(status)?.[1]]).toEqual([name, `${unusedId}`]);
        expect([name, /^CapPrm:\s+(\w+)/m.exec(status)?.[1]]).toEqual([name, '0000000000000000']);
      }
    }
  });

  test.runIf(isRoot)('another user reaches neither the sockets nor the data', async () => {
    const store = join(runner.folder, 'run', 'tasks-store.sock');
    expect(asSomebodyElse('redis-cli', '-s', store, 'PING')).toContain('Permission denied');
    expect(asSomebodyElse('ls', join(runner.folder, 'tasks-store'))).toContain('Permission denied');
  });

  test.runIf(isRoot)(
    'started by root, it changes nothing of root’s that a process has put a link to',
    async () => {
      await runner.interrupt(started);
      const secret = join(await mkdtemp(join(tmpdir(), 'longhand-secret-')), 'secret');
      onTestFinished(() => rm(dirname(secret), { recursive: true }));
      await writeFile(secret, 'secret', { mode: 0o600 });
      const writable = spawnSync('find', [runner.folder, '-user', `${unusedId}`, '-type', 'd'], {
        encoding: 'utf8',
      });
      for (const folder of writable.stdout.trim().split('\n'))
        for (const name of [
          'nginx.conf',
          'nginx.pid',
          'tasks-store.sock',
          'stack.log',
          'appendonlydir',
          'temp.rdb',
        ])
          await symlink(secret, join(folder, name)).catch(() => {});
      started = await runner.up();
      expect(statSync(secret)).toMatchObject({ uid: 0, size: 6 });
    },
  );
});

describe.runIf(isRoot)('The account of processes that root starts', () => {
  test('is the owner of the checkout, or one of its own if that is root', async () => {
    const checkout = await mkdtemp(join(tmpdir(), 'longhand-checkout-'));
    onTestFinished(() => rm(checkout, { recursive: true }));
    await cp('shared/src/service.ts', join(checkout, 'shared/src/service.ts'));
    expect(unprivilegedAccount(checkout)).toBeUndefined();
    await chmod(checkout, 0o755);
    expect(unprivilegedAccount(checkout)).toEqual({ uid: unusedId, gid: unusedId });
    await chown(checkout, somebodyElse.uid, somebodyElse.gid);
    expect(unprivilegedAccount(checkout)).toEqual(somebodyElse);
  });

  test('may listen on ports below 1024 if the proxy should', async () => {
    const lowPort = await freeLowPort();
    const listen = `require('node:net').createServer().listen(${lowPort}, function () { this.close(() => console.log('listened')) })`;
    const attempt = (lowPorts: boolean) => {
      const prefix = childPrefix({ account: somebodyElse, lowPorts });
      const [program = '', ...words] = [...prefix, process.execPath, '-e', listen];
      return spawnSync(program, words, { encoding: 'utf8' }).output.join('');
    };
    expect(attempt(true)).toBe('listened\n');
    const unprivileged = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));
    if (lowPort < unprivileged) expect(attempt(false)).toContain('EACCES');
  });
});

async function freeLowPort(): Promise<number> {
  for (let port = 1_023; port > 511; port -= 1) {
    const server = createServer();
    const free = await new Promise((resolve) =>
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true)),
    );
    await new Promise((resolve) => server.close(resolve));
    if (free) return port;
  }
  throw new Error('No port from 512 to 1023 is free.');
}
