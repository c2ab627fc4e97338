import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { frontNetworks, workers } from './configuration.ts';

const script = join(import.meta.dirname, '../../proxy/derived.envsh');

/** What the container's script makes of the variables. */
function derived(variables: Record<string, string>): Record<string, string> {
  const env = { PATH: process.env.PATH, LONGHAND_API_RATE: '10r/s', ...variables };
  const output = execFileSync('sh', ['-eu', '-c', '. "$0"; env', script], {
    env,
    encoding: 'utf8',
    stdio: 'pipe',
  });
  return Object.fromEntries(
    output
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/).slice(0, 2)),
  );
}
const inOneSpelling = (values: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value.trim().replace(/\s+/g, ' ')]),
  );

test.each([
  ['', []],
  ['10.0.0.0/8', ['10.0.0.0/8']],
  ['10.0.0.0/8,fd00::/8 192.0.2.1/32', ['10.0.0.0/8', 'fd00::/8', '192.0.2.1/32']],
])('the container and the native run make the same of LONGHAND_FRONT=%s', (LONGHAND_FRONT, networks) => {
  expect(inOneSpelling(derived({ LONGHAND_FRONT, LONGHAND_WORKERS: '3' }))).toMatchObject({
    ...frontNetworks(networks),
    ...workers(3),
    LONGHAND_API_BURST: '10',
    LONGHAND_EXPANDER_NAME: '',
    LONGHAND_TASKS_NAME: '',
  });
});

test('the container does not start with networks that are something else', () => {
  expect(() => derived({ LONGHAND_FRONT: '10.0.0.0/8; include x' })).toThrow(
    /LONGHAND_FRONT=10\.0\.0\.0\/8; include x/,
  );
});
