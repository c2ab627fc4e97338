import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { escapeControls } from '@longhand/shared/control-characters.ts';
import { configurationExitCode, EnvironmentError } from '@longhand/shared/environment-error.ts';
import { formatLogLine } from '@longhand/shared/log-line.ts';
import { stopSignal } from '@longhand/shared/stop.ts';
import { belongsToAnother, enterFolder } from './folders.ts';
import { forEachLine } from './lines.ts';
import { keepLine, logs as logNames } from './log-files.ts';
import { portNames } from './ports.ts';
import { leaveRoot } from './privileges.ts';
import { searchPath, serviceFiles, socketPath } from './processes.ts';
import { lockStack, readState, writeState } from './runner.ts';
import type { Stack } from './stack.ts';

/**
 * Runs the stack without Docker: `up` in the foreground; `ps` shows what runs, `down` stops it, `logs` follows the
 * logs, or shows the lines about one request (ID=…), `observe` starts a Prometheus beside it. Each command loads only what
 * it needs, so it answers soon.
 */
const commands: Record<string, () => Promise<void>> = { up, ps, down, logs, observe };

const checkout = join(import.meta.dirname, '..', '..');
const [command = 'up', argument = join(checkout, '.local')] = process.argv.slice(2);
const folder = resolve(argument);
const workingDirectory = process.cwd();
// Other users may not read what the stack writes.
process.umask(0o077);
try {
  if (!Object.hasOwn(commands, command))
    throw new Error(`${command}: the commands are up, ps, down, logs and observe.`);
  const reason =
    command === 'up' || existsSync(folder) ? leaveRoot(checkout, folder, serviceFiles, lowPorts()) : '';
  if (reason && existsSync(folder) && statSync(folder).uid !== 0) throw new Error(belongsToAnother(folder));
  if (command === 'up' || existsSync(folder)) enterFolder(folder);
  if (command === 'up' && reason) printLine('stack', `Everything runs as root, because ${reason}.`);
  await commands[command]?.();
} catch (error) {
  print(error instanceof Error ? error.message : `${error}`, console.error);
  process.exitCode = error instanceof EnvironmentError ? configurationExitCode : 1;
}

/** Whether a port of the proxy is one that only root may listen on. */
function lowPorts(): boolean {
  return portNames.map((name) => Number(process.env[name])).some((port) => port > 0 && port < 1_024);
}

async function up(): Promise<void> {
  requirePrograms('nginx', 'redis-server');
  using lock = lockStack();
  if (lock === undefined) {
    const holder = `process ${readState()?.pid}`;
    throw new Error(
      `The stack is already running (${holder}): \`make ps\` shows it, \`make down\` stops it.`,
    );
  }
  const stop = stopSignal();
  let status = () => 'The stack is starting.';
  writeState(status());
  mkdirSync('log', { recursive: true });
  // Refuses to start where the log cannot be opened.
  appendFileSync(join('log', logNames.lines), '');
  const { startStack } = await import('./stack.ts');
  await using stack = await startStack({
    folder: '.',
    env: withAbsoluteFiles(process.env),
    onLine(process, line) {
      printLine(process, line);
      keepLine('log', process, line);
    },
    onRestart: () => writeState(status()),
  });
  status = () => describeStack(stack);
  writeState(status());
  print(`\n${status()}\n\nCtrl-C stops everything; the tasks are kept.\n`);
  if (!stop.aborted) await once(stop, 'abort');
  print('\nStopping. The tasks are kept.');
}

/** Resolves relative paths of files, because the processes run in another folder. */
function withAbsoluteFiles(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const resolved = { ...env };
  for (const [name, path] of Object.entries(env))
    if (path && /^(EXPANDER|TASKS)_\w+_FILE$/.test(name)) resolved[name] = resolve(workingDirectory, path);
  return resolved;
}

async function ps(): Promise<void> {
  print(readState()?.status ?? 'The stack is not running: `make up` starts it.');
}

async function down(): Promise<void> {
  const runner = readState();
  if (runner === undefined) return print('The stack is not running.');
  process.kill(runner.pid, 'SIGTERM');
  while (readState()?.pid === runner.pid) await sleep(50);
  print('The stack has stopped.');
}

async function logs(): Promise<void> {
  const show = (line: string) => {
    const { service, time } = JSON.parse(line);
    printLine(`${service}`, line, `${time} `);
  };
  if (process.env.ID) {
    const grep = spawnSync('grep', ['-hrF', requestId(), 'log'], { maxBuffer: 2 ** 28 });
    const lines = `${grep.stdout}`.split('\n').filter(Boolean);
    const time = (line: string) => Date.parse(JSON.parse(line).time);
    for (const line of lines.toSorted((a, b) => time(a) - time(b))) show(line);
    return;
  }
  const files = Object.values(logNames).map((name) => join('log', name));
  const tail = spawn('tail', ['-q', '-n', '100', '-F', ...files], { stdio: ['ignore', 'pipe', 'ignore'] });
  forEachLine(tail.stdout, show);
  await once(tail, 'exit');
}

async function observe(): Promise<void> {
  const { observeStack, programs } = await import('../observe/observe.ts');
  requirePrograms(...programs);
  if (readState() === undefined)
    throw new Error('The stack is not running: start it in another terminal with make up NATIVE=1.');
  const { readEnv, stackVariables } = await import('@longhand/shared/env.ts');
  const { LONGHAND_PROMETHEUS_PORT: port } = readEnv(stackVariables, process.env, ['LONGHAND_']);
  const stop = stopSignal();
  const { url, stop: end } = await observeStack({ folder: '.', port, onLine: printLine });
  print(
    `\n  prometheus   ${url}/   (alerts: ${url}/alerts)\n\nCtrl-C stops observing; what was seen is kept.\n`,
  );
  if (!stop.aborted) await once(stop, 'abort');
  await end();
}

/** @throws Error with a message for people */
function requestId(): string {
  const { ID = '' } = process.env;
  if (/^[0-9a-f]{32}$/.test(ID)) return ID;
  throw new Error(`ID=${ID} is not a request ID (32 hex digits, shown on the error page).`);
}

function requirePrograms(...programs: string[]): void {
  const env = { ...process.env, PATH: searchPath(process.env) };
  const missing = programs.filter((program) => spawnSync(program, ['--version'], { env }).error);
  if (missing.length === 0) return;
  const names = missing.join(' and ');
  throw new Error(
    `Missing: ${names}. Install the packages of the same names (on Debian: apt-get install ${missing.join(' ')}), ` +
      'or use Docker, which needs nothing else: docker compose up --build',
  );
}

function describeStack({ urls, bind, processes }: Stack): string {
  const ports = {
    LONGHAND_PORT: new URL(urls.proxy).port,
    LONGHAND_EXPANDER_PORT: new URL(urls.expander).port,
    LONGHAND_TASKS_PORT: new URL(urls.tasks).port,
  };
  const env = { ...process.env, ...ports };
  const addresses = execFileSync(join(checkout, 'deploy/addresses.sh'), [bind], { env, encoding: 'utf8' });
  const metrics = (name: 'expander' | 'tasks') =>
    `curl --unix-socket ${relative(workingDirectory, resolve(socketPath(`${name}-ops`)))} http://localhost/metrics`;
  return [
    addresses.trimEnd(),
    `  metrics    ${metrics('expander')}`,
    `             ${metrics('tasks')}`,
    `  processes  ${processes.map(({ name, pid }) => `${name} ${pid}`).join(', ')}`,
  ].join('\n');
}

function printLine(process: string, line: string, time = ''): void {
  console.log(`${time}${process.padEnd(14)} | ${formatLogLine(line)}`);
}

function print(text: string, write: (text: string) => void = console.log): void {
  write(text.split('\n').map(escapeControls).join('\n'));
}
