import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { expect, onTestFinished, test } from 'vitest';

const script = join(import.meta.dirname, 'watched.sh');

/** Runs `main`, the text of a program, as the service `tasks` that has `port` for its operations endpoints. */
function watched(port: number, main: string) {
  const service = spawn(script, ['tasks', process.execPath, '-e', main], {
    env: { ...process.env, OPS_PORT: `${port}` },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  // The watcher outlives the service where no container ends with it.
  onTestFinished(() => void process.kill(-(service.pid as number), 'SIGKILL'));
  const lines = service.stdout.setEncoding('utf8')[Symbol.asyncIterator]();
  return { service, said: async () => (await lines.next()).value };
}

const answers = (port: number) => `
  const server = require('node:http').createServer((_, response) => response.end('live'));
  server.listen(${port}, '127.0.0.1', () => console.log('listening'));`;

test('a service that hangs is killed within 3 s, and the log says so', async () => {
  const port = await freePort();
  const { service, said } = watched(port, answers(port));
  expect(await said()).toBe('listening\n');
  service.kill('SIGSTOP');
  const [code, signal] = await once(service, 'exit', { signal: AbortSignal.timeout(60_000) });
  expect([code, signal]).toEqual([null, 'SIGKILL']);
  const record = JSON.parse(await said());
  expect(record).toEqual({
    level: 'error',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    service: 'tasks',
    msg: 'does not answer; killing it',
  });
});

test('a service that no longer accepts connections is left to end by itself', async () => {
  const port = await freePort();
  const stopping = `${answers(port)}
    process.on('SIGTERM', () => server.close(() => setTimeout(() => process.exit(0), 2_000)));`;
  const { service, said } = watched(port, stopping);
  expect(await said()).toBe('listening\n');
  service.kill('SIGTERM');
  expect(await once(service, 'exit')).toEqual([0, null]);
});

test.each([
  ['is busy', 'for (const end = Date.now() + 2_500; Date.now() < end; ); process.exit(0);'],
  [
    'answers late',
    "server.removeAllListeners('request').on('request', () => {}); setTimeout(() => process.exit(0), 3_500);",
  ],
])('a service that %s is left alone', async (_, stop) => {
  const port = await freePort();
  const { service, said } = watched(port, `${answers(port)} process.on('SIGTERM', () => { ${stop} });`);
  expect(await said()).toBe('listening\n');
  service.kill('SIGTERM');
  expect(await once(service, 'exit')).toEqual([0, null]);
});
