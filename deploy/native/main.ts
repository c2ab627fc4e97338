import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { escapeControls } from '@longhand/shared/control-characters.ts';
import { configurationExitCode, EnvironmentError } from '@longhand/shared/environment-error.ts';
import { formatLogLine } from '@longhand/shared/log-line.ts';
import { stopSignal } from '@longhand/shared/stop.ts';
import { asText, portNames } from './configuration.ts';
import { createFolders, giveFolders, unprivilegedAccount, withoutPrivileges } from './folders.ts';
import { startLog } from './log.ts';
import { ask, becomeRunner } from './runner.ts';
import type { Stack } from './stack.ts';

// Runs the stack without Docker. Each command loads only its own modules, so it starts quickly.
const commands: Record<string, () => Promise<void>> = { up, ps, down, observe };

const checkout = join(import.meta.dirname, '..', '..');
const [command = 'up', argument = join(checkout, '.local')] = process.argv.slice(2);
const folder = resolve(argument);
const workingDirectory = process.cwd();
// Keep other users from reading the stack's files.
process.umask(0o077);
try {
  const run = commands[command];
  if (!run) throw new Error(`${command} is not a command. Use ${Object.keys(commands).join(', ')}.`);
  if (run === up || run === observe) prepare();
  // Unix socket paths must be short, so use relative paths.
  if (existsSync(folder)) process.chdir(folder);
  await run();
} catch (error) {
  print(error instanceof Error ? error.message : `${error}`, console.error);
  process.exitCode = error instanceof EnvironmentError ? configurationExitCode : 1;
}

/** Creates the folders. Restarts the program without privileges if root started it. */
function prepare(): void {
  createFolders(folder);
  const account = unprivilegedAccount(checkout);
  if (account) {
    giveFolders(folder, account);
    const lowPorts = portNames.some((name) => Number(process.env[name] || 8080) < 1_024);
    const program = [...withoutPrivileges(account, lowPorts), process.execPath, ...process.argv.slice(1)];
    process.execve?.('/usr/bin/env', ['env', ...program], process.env);
  }
  if (process.getuid?.() === 0)
    console.log('The stack runs as root, because an account without privileges cannot read this checkout.');
}

async function up(): Promise<void> {
  const stop = stopSignal();
  let status = () => 'The stack is starting.';
  if (!(await becomeRunner(() => status())))
    throw new Error('The stack is already running: `make ps` shows it, `make down` stops it.');
  const keepLine = startLog();
  const { startStack } = await import('./stack.ts');
  await using stack = await startStack({
    folder: '.',
    env: withAbsoluteFiles(process.env),
    onLine(process, line) {
      printLine(process, line);
      keepLine(process, line);
    },
  });
  status = () => describeStack(stack);
  print(`\n${status()}\n\nCtrl-C stops the stack and keeps the tasks.\n`);
  if (!stop.aborted) await once(stop, 'abort');
  print('\nStopping. The tasks are kept.');
}

/** Makes file paths absolute, because the processes run in another folder. */
function withAbsoluteFiles(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const resolved = { ...env };
  for (const [name, path] of Object.entries(env))
    if (path && /^(EXPANDER|TASKS)_\w+_FILE$/.test(name)) resolved[name] = resolve(workingDirectory, path);
  return resolved;
}

async function ps(): Promise<void> {
  print((await ask('status')) ?? 'The stack is not running: `make up` starts it.');
}

async function down(): Promise<void> {
  print((await ask('stop')) === undefined ? 'The stack is not running.' : 'The stack has stopped.');
}

async function observe(): Promise<void> {
  const { observeStack } = await import('../observe/observe.ts');
  if ((await ask('status')) === undefined)
    throw new Error('The stack is not running: start it in another terminal with make up NATIVE=1.');
  const { readSettings } = await import('../settings.ts');
  const { LONGHAND_PROMETHEUS_PORT: port } = await readSettings(process.env);
  const remoteWrite = Boolean(process.env.REMOTE_WRITE);
  const stop = stopSignal();
  const { url, stop: end } = await observeStack({ folder: '.', port, remoteWrite, onLine: printLine });
  print(
    `\n  prometheus   ${url}/   (alerts: ${url}/alerts)\n\nCtrl-C stops Prometheus and keeps the metrics.\n`,
  );
  if (!stop.aborted) await once(stop, 'abort');
  await end();
}

function describeStack({ bind, variables, processes }: Stack): string {
  const env = { PATH: process.env.PATH, ...asText(variables) };
  const addresses = execFileSync(join(checkout, 'deploy/addresses.sh'), [bind], { env, encoding: 'utf8' });
  const pids = processes.map(({ name, pid }) => `${name} ${pid}`).join(', ');
  return `${addresses.trimEnd()}\n  processes  ${pids}`;
}

function printLine(process: string, line: string): void {
  console.log(`${process.padEnd(14)} | ${formatLogLine(line)}`);
}

function print(text: string, write: (text: string) => void = console.log): void {
  write(text.split('\n').map(escapeControls).join('\n'));
}
