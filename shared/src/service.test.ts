import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { listening } from '../testing/listening.ts';

const path = JSON.stringify(`${import.meta.dirname}/service.ts`);

/** Runs `script` and then a service on `port` in a child process. */
function runService(port: number, script = '') {
  const code = `
    const { prepareService } = await import(${path});
    const config = { LOG_LEVEL: 'error', HOST: '127.0.0.1', PORT: ${port}, OPS_PORT: 0 };
    const { run } = prepareService('test', '0.0.0', config);
    ${script}
    await run({ fetch: () => new Response() }, {});`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
}

test('a service exits with 78 if its port is in use, and prints which variables to change', async () => {
  const taken = createServer();
  onTestFinished(() => void taken.close());
  const port = await listening(taken);
  const { status, stderr } = runService(port);
  expect(stderr).toBe(
    `Port ${port} of 127.0.0.1 is in use. Set HOST and PORT, or OPS_HOST and OPS_PORT to another address.\n`,
  );
  expect(status).toBe(78);
});

test('a service logs an unhandled rejection, but exits with 1 after an uncaught error', () => {
  const fail = "setImmediate(() => { throw new Error('thrown'); })";
  const { status, stdout } = runService(
    0,
    `Promise.reject(Object.assign(new Error('rejected'), { command: { args: ['secret'] } }));
    process.on('newListener', (name) => name === 'uncaughtException' && ${fail});`,
  );
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
  const code = [...lines, `require(${path}).startHeartbeat(3);`].join('\n');
  const service = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] });
  return { service, pipe: service.stdio[3] as Readable };
}

test('the heartbeat starts immediately and repeats within 750 ms', async () => {
  const clock = "const { timers } = require('node:test').mock; timers.enable({ apis: ['setInterval'] });";
  const { pipe } = beating(clock, 'setImmediate(() => timers.tick(749));');
  expect(await text(pipe)).toBe('..');
});

test.each([true, false])('the heartbeat does not keep the process alive (reader: %s)', async (isRead) => {
  const { service, pipe } = beating();
  if (isRead) pipe.resume();
  else pipe.destroy();
  expect(await once(service, 'exit')).toEqual([0, null]);
});
