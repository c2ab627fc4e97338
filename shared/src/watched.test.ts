import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { textFile } from '../testing/text-file.ts';

const script = join(import.meta.dirname, 'watched.sh');

/**
 * Runs the JavaScript `main` as the service `tasks`.
 *
 * @param from a timeout in the script, in seconds, to replace with `to`. The script then sees no context switches.
 * @param timeouts a file in which to log each timeout of the script, in seconds
 */
function watched(main: string, from = 'none', to = '', timeouts = '') {
  const read = `() {
    [ -z "$TIMEOUTS" ] || [ -z "$5" ] || echo "$5" >>"$TIMEOUTS"
    [ "$5" != '${from}' ] || set -- -r -n 1 -t ${to}
    builtin read "$@" || return
    case $name in *ctxt_switches:) value=0 ;; esac
  }`;
  const service = spawn(script, ['tasks', process.execPath, '-e', main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...((to || timeouts) && { 'BASH_FUNC_read%%': read, TIMEOUTS: timeouts }) },
  });
  onTestFinished(() => void service.kill('SIGKILL'));
  // The watcher inherits stdout, so stdout stays open until the watcher exits.
  return { exited: once(service, 'exit'), output: text(service.stdout) };
}

const beat = "require('node:fs').writeSync(Number(process.env.HEARTBEAT_FD), '.');";
const hang = "process.kill(process.pid, 'SIGSTOP');";

test('a watcher logs and kills a hung service within 3 s', async () => {
  const timeouts = textFile('');
  const { exited, output } = watched(beat + hang, 'none', '', timeouts);
  expect(await exited).toEqual([null, 'SIGKILL']);
  expect(JSON.parse(await output)).toEqual({
    level: 'error',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    service: 'tasks',
    msg: 'hangs; killing it',
  });
  // The script waits up to 30 s for the first heartbeat, which arrives immediately.
  const [start, ...waits] = readFileSync(timeouts, 'utf8').trim().split('\n').map(Number);
  expect(start).toBe(30);
  expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(3);
});

test('a watcher kills a service that hangs before its first heartbeat', async () => {
  expect(await watched(hang, '30', '0.1').exited).toEqual([null, 'SIGKILL']);
});

test('a watcher does not kill a busy service', async () => {
  // process.exit() would wait for threads.
  const busy =
    "for (const end = Date.now() + 700; Date.now() < end; ); process.kill(process.pid, 'SIGTERM');";
  // A hung service is killed after the third miss.
  const { exited, output } = watched(beat + busy, '0.75', '0.1');
  expect(await exited).toEqual([null, 'SIGTERM']);
  expect(await output).toBe('');
});
