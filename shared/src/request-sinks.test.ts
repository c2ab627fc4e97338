import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** The files of ours that a process loads which makes the sinks for `endpoint`. */
function loaded(endpoint: string | undefined): string {
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) });
    const { requestSinks } = await import(${JSON.stringify(`${import.meta.dirname}/notable-requests.ts`)});
    await requestSinks('test', console, ${JSON.stringify(endpoint)});`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
}

test('the exporter of spans is loaded only where there is an endpoint', () => {
  expect(loaded(undefined)).not.toContain('otlp');
  expect(loaded('http://127.0.0.1:1')).toContain('/otlp.ts');
});
