import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, chmodSync, cpSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join, relative } from 'node:path';
import { EnvironmentError } from '@longhand/shared/environment-error.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { testUnless } from '@longhand/shared/testing/unless.ts';
import { describe, expect, test } from 'vitest';
import { alive, processesOf, Runner, type Started } from '../testing/runner.ts';
import { addressesOf, checkPorts } from './configuration.ts';
import { createFolders, unusedId, withoutPrivileges } from './folders.ts';
import { logFile } from './log.ts';

const interfaces = Object.entries(networkInterfaces()).flatMap(([name, found = []]) =>
  found.map((address) => ({ name, ...address })),
);
const hasIPv6 = interfaces.some(({ address }) => address === '::1');
/** This machine's external addresses. */
const addresses = interfaces
  .filter(({ name, family, internal }) => family === 'IPv4' && !internal && !/^(docker|br-|veth)/.test(name))
  .map(({ address }) => address);

const isRoot = process.getuid?.() === 0;
const logs = join(import.meta.dirname, '../logs.sh');

/** Runs a command as another user in the folder `cwd`. @returns its output. */
function runAs(id: number, cwd: string, ...command: string[]): string {
  const [program = '', ...words] = [...withoutPrivileges({ uid: id, gid: id }), ...command];
  return spawnSync(program, words, { cwd, encoding: 'utf8' }).output.join('');
}

/** Copies the files that a stack needs. */
function copyCheckout(to: string): void {
  const root = join(import.meta.dirname, '../..');
  const own = (path: string) => !/node_modules|(docs|src)\/.*\.png$/.test(path);
  for (const name of 'deploy docs proxy expander tasks shared package.json CHANGELOG.md'.split(' '))
    cpSync(join(root, name), join(to, name), { recursive: true, filter: own });
  symlinkSync(join(root, 'node_modules'), join(to, 'node_modules'));
}

/** Returns the process IDs in a group. */
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

/** Returns the TCP ports on which a process group listens. */
function listeningPorts(group: number): number[] {
  const own = members(group).map((pid) => `pid=${pid},`);
  const sockets = execFileSync('ss', ['-Hltnp'], { encoding: 'utf8' }).split('\n');
  const found = sockets.filter((line) => own.some((pid) => line.includes(pid)));
  return [...new Set(found.map((line) => Number(/:(\d+) /.exec(line)?.[1])))].toSorted();
}

// These tests share one stack and run in this order.
describe('The native run', () => {
  const runner = new Runner();
  const variables = { LONGHAND_BIND: hasIPv6 ? '::' : '0.0.0.0' };
  let stack: Started;
  const runningProcesses = async () => processesOf((await runner.run('ps').exited).output);
  const tasks = (request?: RequestInit) =>
    fetch(`http://127.0.0.1:${runner.ports.LONGHAND_TASKS_PORT}/tasks`, request);

  test('`make up` lists every invalid variable and exits with 78', async () => {
    const { code, output } = await runner.run('up', {
      LONGHAND_API_RATE: 'fast',
      LONGHAND_BIND: '\u001b[2J\u202e',
      LONGHAND_FRONT: '10.0.0.0/8;',
      LONGHAND_WORKERS: '17',
      LONGHAND_PROT: '80',
      LONGHAND_TASKS_PORT: '0',
      EXPANDER_MAX_REDIRECT: 'many',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://of-other-programs:4318',
    }).exited;
    expect([code, output.split('\n  ')]).toEqual([
      78,
      [
        'Invalid environment:',
        'LONGHAND_PROT: unknown variable',
        'LONGHAND_BIND=\\u001b[2J\\u202e: is not an IP address',
        'LONGHAND_TASKS_PORT=0: is not from 1 to 65535',
        'LONGHAND_API_RATE=fast: is not a rate such as 10r/s or 30r/m',
        'LONGHAND_WORKERS=17: is not from 1 to 16',
        'LONGHAND_FRONT=10.0.0.0/8;: is not a list of networks such as 10.80.80.1/32,fd00::1/128',
        'EXPANDER_MAX_REDIRECT=many: is not a whole number from 0 to 20\n',
      ],
    ]);
  });

  const starters = rounds({ short: 2, long: 10 });
  test(`only one of ${starters} simultaneous starts succeeds`, async () => {
    const starts = Array.from({ length: starters }, () => runner.run('up', variables));
    const ended = new Map<Started, { code: number | null; output: string }>();
    for (const start of starts) start.exited.then((end) => ended.set(start, end));
    await expect.poll(() => ended.size, { timeout: 60_000 }).toBe(starters - 1);
    const message = 'The stack is already running: `make ps` shows it, `make down` stops it.\n';
    expect([...ended.values()]).toEqual(Array(starters - 1).fill({ code: 1, output: message }));
    stack = await runner.announced(starts.find((start) => !ended.has(start)) as Started);
    expect(stack.output()).toContain(`http://tasks.localhost:${runner.ports.LONGHAND_PORT}/`);
    expect(stack.output()).not.toContain('Redis is starting');
    const headers = { 'Content-Type': 'application/json' };
    await tasks({ method: 'POST', headers, body: JSON.stringify({ title: 'kept' }) });
  });

  testUnless(!hasIPv6 && 'needs IPv6')('serves every printed address if LONGHAND_BIND is ::', async () => {
    for (const port of Object.values(runner.ports)) {
      await runner.isServed(port, '127.0.0.1');
      await runner.isServed(port, '[::1]');
    }
    const { LONGHAND_TASKS_PORT: port } = runner.ports;
    const links = stack.output().matchAll(new RegExp(`http://(\\S+):${port}/`, 'g'));
    const hosts = [...links].map(([, host = '']) => host);
    expect(hosts).toEqual(['localhost', ...addresses.filter((address) => hosts.includes(address))]);
    expect(hosts.length > 1).toBe(addresses.length > 0);
    for (const host of hosts) await runner.isServed(port, host);
    expect(
      stack.output().match(/Warning: The task list has no password.* TASKS_PASSWORD_FILE .*\n/g),
    ).toHaveLength(1);
  });

  test('only the proxy listens on TCP', async () => {
    const { proxy, ...inner } = processesOf(stack.output());
    for (const pid of Object.values(inner)) expect(listeningPorts(pid)).toEqual([]);
    expect(listeningPorts(proxy ?? 0)).toEqual(Object.values(runner.ports).toSorted());
  });

  test('other users cannot read its files', () => {
    const others = (path: string) => statSync(join(runner.folder, path)).mode & 0o077;
    const inside = (path: string) => readdirSync(join(runner.folder, path)).map((name) => join(path, name));
    const paths = [...inside(''), ...inside('run'), ...inside('tasks-store/appendonlydir')];
    expect(paths).toEqual(
      expect.arrayContaining(['run', 'proxy', 'tasks-store', 'stack.log', 'run/stack.sock']),
    );
    expect(paths.filter(others)).toEqual([]);
  });

  testUnless(!isRoot && 'needs root')('drops all privileges if root starts it', async () => {
    expect(stack.output()).not.toContain('runs as root');
    const groups = Object.values(processesOf(stack.output()));
    for (const pid of [stack.child.pid, ...groups.flatMap(members)]) {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      expect([pid, /^Uid:\s+(\d+)/m.exec(status)?.[1]]).toEqual([pid, `${unusedId}`]);
      expect([pid, /^CapPrm:\s+(\w+)/m.exec(status)?.[1]]).toEqual([pid, '0000000000000000']);
    }
    // The folder may contain programs that root runs.
    expect(runAs(unusedId, runner.folder, 'touch', 'file')).toContain('Permission denied');
  });

  test('make logs finds a failed request by its ID', async () => {
    const { 'tasks-store': store = 0 } = processesOf(stack.output());
    process.kill(store, 'SIGSTOP');
    const page = await tasks();
    process.kill(store, 'SIGCONT');
    const ID = page.headers.get('x-request-id') ?? '';
    expect([page.status, await page.text()]).toEqual([503, expect.stringContaining(`request ${ID}`)]);
    const found = (id: string) => spawnSync(logs, [id, join(runner.folder, logFile)]);
    const line = (service: string) => `(?=[^]*"service":"${service}".*"path":"/tasks","status":503)`;
    await expect.poll(() => `${found(ID).stdout}`).toMatch(new RegExp(line('tasks') + line('proxy')));
    expect(found('../x').status).toBe(1);
  });

  test("`make logs` shows nginx's requests, which `make up` does not print", async () => {
    const follower = spawn(logs, ['', join(runner.folder, logFile)], { detached: true });
    let followed = '';
    follower.stdout.setEncoding('utf8').on('data', (text: string) => {
      followed += text;
    });
    const path = `/nowhere-${randomUUID()}`;
    expect((await fetch(`http://127.0.0.1:${runner.ports.LONGHAND_PORT}${path}`)).status).toBe(404);
    await expect.poll(() => followed).toContain(`"path":"${path}","status":404`);
    expect(stack.output()).not.toContain(path);
    process.kill(-(follower.pid ?? 0));
  });

  test('restarts killed and hung processes', async () => {
    const { tasks: hanging = 0, ...others } = processesOf(stack.output());
    process.kill(hanging, 'SIGSTOP');
    for (const pid of Object.values(others)) process.kill(pid, 'SIGKILL');
    const pids = [hanging, ...Object.values(others)];
    await expect.poll(() => alive(pids), { timeout: 60_000 }).toEqual([]);
    for (const line of [
      'tasks          | error: hangs; killing it',
      'proxy          | exited with SIGKILL; restarting',
    ])
      expect(stack.output()).toContain(`${line}\n`);
    await runner.isServed(runner.ports.LONGHAND_TASKS_PORT);
    await runner.isServed(runner.ports.LONGHAND_EXPANDER_PORT);
    const again = Object.values(await runningProcesses());
    expect(again).toHaveLength(5);
    expect(again.filter((pid) => pids.includes(pid))).toEqual([]);
  });

  test('restarts after SIGKILL without losing tasks', async () => {
    const cached = () => readdirSync(join(runner.folder, 'proxy/responses'));
    await fetch(`http://127.0.0.1:${runner.ports.LONGHAND_EXPANDER_PORT}/api?u=127.0.0.1`);
    await expect.poll(cached).toHaveLength(1);
    const pids = Object.values(await runningProcesses());
    stack.child.kill('SIGKILL');
    await stack.exited;
    await expect.poll(() => alive(pids), { timeout: 60_000 }).toEqual([]);

    // Paths in variables are relative to the working directory.
    const TASKS_PASSWORD_FILE = `deploy/../${relative('', textFile('open sesame'))}`;
    copyCheckout(runner.checkout);
    runner.main = join(runner.checkout, 'deploy/native/main.ts');
    // Deny other users access to the home folder.
    chmodSync(runner.home, 0o700);
    stack = await runner.announced(runner.run('up', { LONGHAND_BIND: '127.0.0.2', TASKS_PASSWORD_FILE }));
    const store = ['-s', 'run/tasks-store.sock', 'HGET', '{tasks}:task:1', 'title'];
    expect(spawnSync('redis-cli', store, { cwd: runner.folder, encoding: 'utf8' }).stdout).toBe('kept\n');
    expect(readFileSync(join(runner.folder, logFile), 'utf8')).not.toContain('hangs');
    expect(cached()).toEqual([]);
  });

  test('runs from a path with special characters', async () => {
    for (const port of Object.values(runner.ports)) await runner.isServed(port, '127.0.0.2');
    const url = `http://127.0.0.2:${runner.ports.LONGHAND_TASKS_PORT}/`;
    expect((await fetch(`${url}tasks/events`)).status).toBe(401);
    // The stack listens only on LONGHAND_BIND, so the printed URL must contain its value.
    expect(stack.output()).toContain(`  tasks      ${url}\n`);
    if (isRoot) expect(stack.output()).toContain('The stack runs as root, because an account without');
  });

  test('`make down` leaves no processes', async () => {
    const pids = Object.values(processesOf(stack.output()));
    expect(await runner.run('down').exited).toEqual({ code: 0, output: 'The stack has stopped.\n' });
    const { code, output } = await stack.exited;
    expect(code).toBe(0);
    await expect.poll(() => alive(pids)).toEqual([]);
    expect(output).not.toMatch(/error:|exited with/);
  });

  test('prints the repair command if the append-only file is damaged', async () => {
    const data = join(runner.folder, 'tasks-store', 'appendonlydir');
    const file = join(data, readdirSync(data).find((name) => name.endsWith('.incr.aof')) ?? '');
    // Redis accepts connections while it loads a long file, long before it reaches the damage.
    const filler = '*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n'.repeat(200_000);
    appendFileSync(file, `${filler}nonsense${filler}`);
    const { code, output } = await runner.run('up').exited;
    expect(code).toBe(1);
    expect(output).toMatch(/^tasks-store .*Bad file format reading the append only file.*redis-check-aof/m);
    expect(output).toContain(
      'tasks-store did not start. See its last lines, make doctor, and docs/operate.md.',
    );
    expect(output).not.toContain('Ctrl-C');
    expect((await runner.run('ps').exited).output).toBe('The stack is not running: `make up` starts it.\n');
  });
});

test.each([
  ['127.0.0.1', ['127.0.0.1']],
  ['::', ['0.0.0.0', '[::]']],
  ['0:0::0', ['0.0.0.0', '[::]']],
  ['2001:db8::1', ['[2001:db8::1]']],
])('LONGHAND_BIND=%s means %o', (bind, addresses) => expect(addressesOf(bind)).toEqual(addresses));

test('the error names every unusable port', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const ports = { LONGHAND_PORT: port, LONGHAND_EXPANDER_PORT: 27_998, LONGHAND_TASKS_PORT: 27_998 };
  await expect(checkPorts(ports, '127.0.0.1')).rejects.toThrow(
    `LONGHAND_PORT=${port}: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n` +
      'LONGHAND_TASKS_PORT=27998: listen EADDRINUSE: address already in use 127.0.0.1:27998\n' +
      'Choose three free ports, for example: LONGHAND_PORT=18080 make up. Ports below 1024 require root. ' +
      'LONGHAND_BIND must be an address of this machine.',
  );
  other.close();
  await expect(checkPorts(ports, '192.0.2.1')).rejects.toThrow(EnvironmentError);
});

test('the error names a folder that cannot be created', () => {
  const folder = join(textFile(''), 'data');
  const message = `Cannot create ${folder}/run (ENOTDIR). The stack needs a folder for its data.`;
  expect(() => createFolders(folder)).toThrow(message);
  expect(() => createFolders(folder)).toThrow(EnvironmentError);
});
