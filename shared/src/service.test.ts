import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { listening } from '../testing/listening.ts';

/** Runs `script` in another process, with `prepareService`. */
const runScript = (script: string) =>
  spawnSync(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `const { prepareService } = await import(${JSON.stringify(`${import.meta.dirname}/service.ts`)}); ${script}`,
    ],
    { encoding: 'utf8' },
  );

test('a service whose port is in use exits with 78 and names the variables', async () => {
  const taken = createServer();
  onTestFinished(() => void taken.close());
  const port = await listening(taken);
  const { status, stderr } = runScript(`
    const address = { HOST: '127.0.0.1', PORT: ${port}, OPS_PORT: 0 };
    const { run } = prepareService('test', '0.0.0', { LOG_LEVEL: 'error', ...address });
    await run({ fetch: () => new Response() }, {});`);
  expect(stderr).toBe(
    `Port ${port} of 127.0.0.1 is in use. Set HOST and PORT, or OPS_HOST and OPS_PORT to another address.\n`,
  );
  expect(status).toBe(78);
});

test('an unhandled rejection is logged; an uncaught error ends the service with 1', () => {
  const { status, stdout } = runScript(`
    const address = { HOST: '127.0.0.1', PORT: 0, OPS_PORT: 0 };
    const { run } = prepareService('test', '0.0.0', { LOG_LEVEL: 'error', ...address });
    Promise.reject(Object.assign(new Error('rejected'), { command: { args: ['secret'] } }));
    process.on('newListener', (name) => name === 'uncaughtException' && setImmediate(() => { throw new Error('thrown'); }));
    await run({ fetch: () => new Response() }, {});`);
  const lines = stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'error', msg: 'unhandled rejection', err: { message: 'rejected' } },
    { level: 'fatal', msg: 'unexpected error; shutting down', err: { message: 'thrown' } },
  ]);
  expect(stdout).not.toContain('secret');
  expect(status).toBe(1);
});

/** Runs a program with a heartbeat. */
function beating(...lines: string[]) {
  const code = [
    ...lines,
    `require(${JSON.stringify(`${import.meta.dirname}/service.ts`)}).startHeartbeat(3);`,
  ];
  const service = spawn(process.execPath, ['-e', code.join('\n')], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  return { service, pipe: service.stdio[3] as Readable };
}

test('the heart beats at once, and again before watched.sh misses a beat', async () => {
  const clock = "const { timers } = require('node:test').mock; timers.enable({ apis: ['setInterval'] });";
  const { pipe } = beating(clock, 'setImmediate(() => timers.tick(749));');
  expect(await text(pipe)).toBe('..');
});

test.each([true, false])(
  'the heartbeat does not keep a service running; with a reader: %s',
  async (isRead) => {
    const { service, pipe } = beating();
    if (isRead) pipe.resume();
    else pipe.destroy();
    expect(await once(service, 'exit')).toEqual([0, null]);
  },
);
