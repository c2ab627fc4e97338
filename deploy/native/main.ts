import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { stopSignal } from '@longhand/shared/stop.ts';
import { ask, claim } from './claim.ts';
import { readable } from './readable.ts';
import { type Stack, searchPath, startStack } from './stack.ts';

/** The native run: `up` starts the stack without Docker, in the foreground; `ps` shows it, `down` stops it. */
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
  needPrograms('nginx', 'redis-server');
  await mkdir(folder, { recursive: true });
  const stop = stopSignal();
  let stack: Stack | undefined;
  const claimed = await claim(folder, {
    ps: () => (stack ? described(stack) : 'The stack is starting.'),
    stop: () => process.kill(process.pid, 'SIGTERM'),
  });
  try {
    stack = await startStack({ folder, env: process.env, write });
    console.log(`\n${described(stack)}\n\nCtrl-C stops everything; the tasks are kept.\n`);
    if (!stop.aborted) await once(stop, 'abort');
    console.log('\nStopping. The tasks are kept.');
  } finally {
    await stack?.stop();
    await claimed.release();
  }
}

async function ps(): Promise<void> {
  console.log((await ask(folder, 'ps')) ?? 'The stack is not running: `make up` starts it.');
}

async function down(): Promise<void> {
  console.log(
    (await ask(folder, 'stop')) === undefined ? 'The stack is not running.' : 'The stack has stopped.',
  );
}

function needPrograms(...programs: string[]): void {
  const env = { ...process.env, PATH: searchPath(process.env) };
  const missing = programs.filter((program) => spawnSync(program, ['-v'], { env }).error);
  if (missing.length === 0) return;
  const names = missing.join(' and ');
  throw new Error(
    `Missing: ${names}. Install the packages ${names} (on Debian: apt-get install ${missing.join(' ')}), ` +
      'or use Docker, which needs nothing else: docker compose up --build',
  );
}

function described({ urls, operations, parts }: Stack): string {
  const port = new URL(urls.proxy).port;
  return [
    `  expander   http://expander.localhost:${port}/   or ${byPort(urls.expander)}/`,
    `  tasks      http://tasks.localhost:${port}/   or ${byPort(urls.tasks)}/`,
    `  metrics    ${operations.expander}/metrics, ${operations.tasks}/metrics`,
    `  processes  ${parts.map(({ name, pid }) => `${name} ${pid}`).join(', ')}`,
  ].join('\n');
}

/** As people know this machine. */
function byPort(url: string): string {
  return url.replace('//127.0.0.1:', '//localhost:');
}

function write(part: string, line: string): void {
  console.log(`${part.padEnd(14)} | ${readable(line)}`);
}
