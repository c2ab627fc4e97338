import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';

const script = join(import.meta.dirname, 'watched.sh');

/**
 * Runs `main`, the text of a program, as the service `tasks`.
 *
 * @param from one of the script's timeouts, in seconds, which is `to` instead. The script then also sees no context switch,
 * as if nothing else ran on this machine.
 */
function watched(main: string, from = '', to = '') {
  const read = `() {
    [ "$5" != '${from}' ] || set -- -r -n 1 -t ${to}
    builtin read "$@" || return
    case $name in *ctxt_switches:) value=0 ;; esac
  }`;
  const service = spawn(script, ['tasks', process.execPath, '-e', main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...(from && { 'BASH_FUNC_read%%': read }) },
  });
  onTestFinished(() => void service.kill('SIGKILL'));
  // Its watcher has the other end of its output, too.
  return { exited: once(service, 'exit'), output: text(service.stdout) };
}

const beat = "require('node:fs').writeSync(Number(process.env.HEARTBEAT_FD), '.');";
const hang = "process.kill(process.pid, 'SIGSTOP');";

test('a service that hangs is killed within 3 s, and the log says so; nothing is left of its watcher', async () => {
  const { exited, output } = watched(beat + hang);
  expect(await exited).toEqual([null, 'SIGKILL']);
  expect(JSON.parse(await output)).toEqual({
    level: 'error',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    service: 'tasks',
    msg: 'hangs; killing it',
  });
});

test('a service that hangs before its heart beats is killed too', async () => {
  expect(await watched(hang, '30', '0.1').exited).toEqual([null, 'SIGKILL']);
});

test('a service that is busy is left alone, and its watcher ends with it', async () => {
  // It ends at once: at an exit it would wait for its threads.
  const busy =
    "for (const end = Date.now() + 700; Date.now() < end; ); process.kill(process.pid, 'SIGTERM');";
  // One that hangs is killed after the third miss.
  const { exited, output } = watched(beat + busy, '0.75', '0.1');
  expect(await exited).toEqual([null, 'SIGTERM']);
  expect(await output).toBe('');
});
