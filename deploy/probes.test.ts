import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, utimesSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { listening } from '@longhand/shared/testing/listening.ts';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

const composeFile = readFileSync(join(import.meta.dirname, '../docker-compose.yml'), 'utf8');

const [kind, ...check]: string[] = parse(composeFile.replaceAll('$$', '$'))['x-service'].healthcheck.test;

const withPort = (port: number) => `${check.at(-1)}`.replace(/127\.0\.0\.1\/\d+/, `127.0.0.1/${port}`);

test('health checks print why a service is not ready', async () => {
  let status = 200;
  const server = createServer((_, response) => response.writeHead(status).end('not ready: WRONGPASS 200\n'));
  const port = await listening(server);
  onTestFinished(() => void server.close());
  const run = (port: number) =>
    promisify(execFile)('env', [...check.slice(0, -1), withPort(port)]).then(
      () => [0, ''],
      ({ code, stdout }) => [code, stdout],
    );
  expect(kind).toBe('CMD');
  expect(await run(port)).toEqual([0, '']);
  status = 503;
  expect(await run(port)).toEqual([1, 'not ready: WRONGPASS 200\n']);
  expect(await run(await freePort())).toEqual([1, '']);
});

test('no health check starts Node', () => {
  const { services } = parse(composeFile, { merge: true });
  const checks = Object.entries<{ healthcheck?: { test: string[] } }>(services).flatMap(
    ([name, { healthcheck }]) => (healthcheck ? [[name, healthcheck.test.join(' ')]] : []),
  );
  expect(checks.map(([name]) => name)).toEqual(expect.arrayContaining(['expander', 'tasks', 'proxy']));
  expect(checks.filter(([, command]) => /\b(node|npm|npx)\b/.test(`${command}`))).toEqual([]);
});

const [proxy] = parseAllDocuments(
  readFileSync(join(import.meta.dirname, 'kubernetes/base/proxy.yaml'), 'utf8'),
);
const script = proxy?.toJS().spec.template.spec.containers[0].startupProbe.exec.command[2];

async function application() {
  const state = { status: 502, port: '' };
  const server = createServer((_, response) => response.writeHead(state.status).end());
  onTestFinished(() => void server.close());
  state.port = `${await listening(server)}`;
  return state;
}

test("the proxy's startup probe waits up to 20 s for applications", async () => {
  const [expander, tasks] = [await application(), await application()];
  const pid = textFile('');
  const started = async (tasksPort = tasks.port) => {
    const ports = { LONGHAND_EXPANDER_PORT: expander.port, LONGHAND_TASKS_PORT: tasksPort };
    const env = { PATH: process.env.PATH, ...ports };
    const probe = spawn('sh', ['-c', script.replace('/run/nginx.pid', pid)], { env });
    return (await once(probe, 'exit'))[0] === 0;
  };
  expander.status = 200;
  expect(await started()).toBe(false);
  tasks.status = 303;
  expect(await started()).toBe(true);
  expect(await started(`${await freePort()}`)).toBe(false);
  tasks.status = 502;
  const before = new Date(Date.now() - 60_000);
  utimesSync(pid, before, before);
  expect(await started()).toBe(true);
});
