import { execFileSync } from 'node:child_process';
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
