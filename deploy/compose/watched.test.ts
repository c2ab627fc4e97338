import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const script = join(import.meta.dirname, 'watched.sh');
const heartbeat = join(import.meta.dirname, '../../shared/src/heartbeat.ts');

/** Runs `main`, the text of a program, as the service `tasks` whose heart beats; it has said that it runs. */
async function watched(main: string) {
  const start = `
    require(${JSON.stringify(heartbeat)}).startHeartbeat(Number(process.env.HEARTBEAT_FD));
    setInterval(() => {}, 1_000);
    ${main}
    console.log('running');`;
  const service = spawn(script, ['tasks', process.execPath, '-e', start], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void service.kill('SIGKILL'));
  const lines = service.stdout.setEncoding('utf8')[Symbol.asyncIterator]();
  const said = async () => (await lines.next()).value;
  expect(await said()).toBe('running\n');
  return { service, said };
}

test('a service that hangs is killed within 3 s, and the log says so; nothing is left of its watcher', async () => {
  const { service, said } = await watched('');
  service.kill('SIGSTOP');
  const [code, signal] = await once(service, 'exit', { signal: AbortSignal.timeout(60_000) });
  expect([code, signal]).toEqual([null, 'SIGKILL']);
  const record = JSON.parse(await said());
  expect(record).toEqual({
    level: 'error',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    service: 'tasks',
    msg: 'hangs; killing it',
  });
  // The watcher had the other end of its output.
  expect(await said()).toBeUndefined();
});

test('a service that hangs before its heart beats is killed too', async () => {
  // 1 s instead of the 30 s that a start may take.
  const soon = { 'BASH_FUNC_read%%': '() { [ "$5" != 30 ] || set -- -r -n 1 -t 1; builtin read "$@"; }' };
  const stopped = "process.kill(process.pid, 'SIGSTOP');";
  const service = spawn(script, ['tasks', process.execPath, '-e', stopped], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...soon },
  });
  onTestFinished(() => void service.kill('SIGKILL'));
  const [code, signal] = await once(service, 'exit', { signal: AbortSignal.timeout(60_000) });
  expect([code, signal]).toEqual([null, 'SIGKILL']);
});

test('a watcher ends with its service', async () => {
  const { service, said } = await watched('');
  service.kill('SIGTERM');
  expect(await once(service, 'exit')).toEqual([null, 'SIGTERM']);
  expect(await said()).toBeUndefined();
});

test('a service that is busy is left alone', async () => {
  const busy = 'for (const end = Date.now() + 3_500; Date.now() < end; ); process.exit(0);';
  const { service } = await watched(`process.on('SIGTERM', () => { ${busy} });`);
  service.kill('SIGTERM');
  expect(await once(service, 'exit')).toEqual([0, null]);
});
