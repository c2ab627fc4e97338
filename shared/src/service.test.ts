import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listening } from '../testing/listening.ts';

/** Runs `script` as a process of its own, with the service's `prepareService`. */
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

test('a port that is taken ends the start with 78 and the way out', async () => {
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

test('what nobody handles: a rejection is logged, and the service goes on; an error ends it with 1', () => {
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
