import { execFileSync, spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** The files of ours that a process loads which prepares a service with `endpoint`. */
function loaded(endpoint: string | undefined): string {
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) });
    const { prepareService } = await import(${JSON.stringify(`${import.meta.dirname}/service.ts`)});
    const config = { LOG_LEVEL: 'info', OTEL_EXPORTER_OTLP_ENDPOINT: ${JSON.stringify(endpoint)} };
    await prepareService('test', '0.0.0', config);`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
}

test('OpenTelemetry’s SDK is loaded only where there is an endpoint', () => {
  expect(loaded(undefined)).not.toMatch(/sdk-trace|otlp/);
  expect(loaded('http://127.0.0.1:1')).toContain('sdk-trace');
});

test('what nobody handles: a rejection is logged, and the service goes on; an error ends it with 1', () => {
  const script = `
    const { prepareService } = await import(${JSON.stringify(`${import.meta.dirname}/service.ts`)});
    const address = { HOST: '127.0.0.1', PORT: 0, OPS_PORT: 0 };
    const { run } = await prepareService('test', '0.0.0', { LOG_LEVEL: 'error', ...address });
    Promise.reject(Object.assign(new Error('rejected'), { command: { args: ['secret'] } }));
    process.on('newListener', (name) => name === 'uncaughtException' && setImmediate(() => { throw new Error('thrown'); }));
    await run({ fetch: () => new Response() }, {});`;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  const lines = stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'error', msg: 'unhandled rejection', err: { message: 'rejected' } },
    { level: 'fatal', msg: 'unexpected error; shutting down', err: { message: 'thrown' } },
  ]);
  expect(stdout).not.toContain('secret');
  expect(status).toBe(1);
});
