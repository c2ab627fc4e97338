import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { listening } from '@longhand/shared/testing/listening.ts';
import { expect, onTestFinished, test } from 'vitest';

const composeFile = readFileSync(join(import.meta.dirname, '../../docker-compose.yml'), 'utf8');

const [, check = ''] = /^ +- '(exec 3<>.*)'$/m.exec(composeFile.replaceAll('$$', '$')) ?? [];

test('no health check starts Node', () => {
  expect(composeFile).not.toMatch(/test:\s+(- |\[\s*)CMD,?\s+(- )?node/);
});

test('the health check of a service passes on 200 alone, and otherwise says why', async () => {
  let status = 200;
  const server = createServer((_, response) => response.writeHead(status).end('not ready: WRONGPASS 200\n'));
  const port = await listening(server);
  onTestFinished(() => void server.close());
  const run = (port: number) =>
    promisify(execFile)('bash', ['-c', check.replace(/127\.0\.0\.1\/\d+/, `127.0.0.1/${port}`)]).then(
      () => [0, ''],
      ({ code, stdout }) => [code, stdout],
    );
  expect(await run(port)).toEqual([0, '']);
  status = 503;
  expect(await run(port)).toEqual([1, 'not ready: WRONGPASS 200\n']);
  expect(await run(await freePort())).toEqual([1, '']);
});
