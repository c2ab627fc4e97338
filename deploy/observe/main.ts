import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readEnv, readOrExit, stackVariables } from '@longhand/shared/env.ts';
import { formatLogLine } from '@longhand/shared/log-line.ts';
import { stopSignal } from '@longhand/shared/stop.ts';
import { leaveRoot } from '../native/privileges.ts';
import { observeStack, programs } from './observe.ts';

/** Observes the native stack in the foreground: `node deploy/observe/main.ts [folder]`. */
const folder = resolve(process.argv[2] ?? join(import.meta.dirname, '..', '..', '.local'));
const { LONGHAND_PROMETHEUS_PORT: port } = readOrExit((env) => readEnv(stackVariables, env, ['LONGHAND_']));
if (!existsSync(join(folder, 'run')))
  fail('The stack is not running: start it in another terminal with make up NATIVE=1.');
const missing = programs.filter((program) => spawnSync(program, ['--version']).error).join(' ');
if (missing) fail(`Missing: ${missing}. Install these packages (on Debian: apt-get install ${missing}).`);

// It writes into a folder of the stack's account.
leaveRoot(join(import.meta.dirname, '..', '..'), folder, [import.meta.filename], false);
process.umask(0o077);
process.chdir(folder);
const observing = await observeStack({
  folder: '.',
  port,
  onLine: (name, line) => console.log(`${name.padEnd(14)} | ${formatLogLine(line)}`),
});
console.log(
  `\n  prometheus   ${observing.url}/   (alerts: ${observing.url}/alerts)\n\nCtrl-C stops observing; what was seen is kept.\n`,
);
const signal = stopSignal();
if (!signal.aborted) await once(signal, 'abort');
await observing.stop();

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
