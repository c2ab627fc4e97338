import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { stopSignal } from '@longhand/shared/stop.ts';
import { openControlSocket, sendCommand } from './control-socket.ts';
import { formatLogLine } from './log-line.ts';
import { type Stack, searchPath, startStack } from './stack.ts';

/** Runs the stack without Docker: `up` in the foreground; `ps` shows what runs, `down` stops it. */
const commands: Record<string, () => Promise<void>> = { up, ps, down };

const [command = 'up', folder = join(import.meta.dirname, '..', '..', '.local')] = process.argv.slice(2);
try {
  if (!Object.hasOwn(commands, command)) throw new Error(`${command}: the commands are up, ps and down.`);
  await commands[command]?.();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function up(): Promise<void> {
  requirePrograms('nginx', 'redis-server');
  await mkdir(folder, { recursive: true });
  const stop = stopSignal();
  let stack: Stack | undefined;
  const control = await openControlSocket(folder, {
    status: () => (stack ? describeStack(stack) : 'The stack is starting.'),
    stop: () => process.kill(process.pid, 'SIGTERM'),
  });
  try {
    stack = await startStack({ folder, env: process.env, onLine: printLine });
    console.log(`\n${describeStack(stack)}\n\nCtrl-C stops everything; the tasks are kept.\n`);
    if (!stop.aborted) await once(stop, 'abort');
    console.log('\nStopping. The tasks are kept.');
  } finally {
    await stack?.stop();
    await control.close();
  }
}

async function ps(): Promise<void> {
  console.log((await sendCommand(folder, 'status')) ?? 'The stack is not running: `make up` starts it.');
}

async function down(): Promise<void> {
  const answer = await sendCommand(folder, 'stop');
  console.log(answer === undefined ? 'The stack is not running.' : 'The stack has stopped.');
}

function requirePrograms(...programs: string[]): void {
  const env = { ...process.env, PATH: searchPath(process.env) };
  const missing = programs.filter((program) => spawnSync(program, ['-v'], { env }).error);
  if (missing.length === 0) return;
  const names = missing.join(' and ');
  throw new Error(
    `Missing: ${names}. Install the packages ${names} (on Debian: apt-get install ${missing.join(' ')}), ` +
      'or use Docker, which needs nothing else: docker compose up --build',
  );
}

function describeStack({ urls, operations, processes }: Stack): string {
  const port = new URL(urls.proxy).port;
  const byPort = (url: string) => url.replace('//127.0.0.1:', '//localhost:');
  return [
    `  expander   http://expander.localhost:${port}/   or ${byPort(urls.expander)}/`,
    `  tasks      http://tasks.localhost:${port}/   or ${byPort(urls.tasks)}/`,
    `  metrics    ${operations.expander}/metrics, ${operations.tasks}/metrics`,
    `  processes  ${processes.map(({ name, pid }) => `${name} ${pid}`).join(', ')}`,
  ].join('\n');
}

function printLine(process: string, line: string): void {
  console.log(`${process.padEnd(14)} | ${formatLogLine(line)}`);
}
