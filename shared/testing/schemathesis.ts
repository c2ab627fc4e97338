import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, type TestContext } from 'vitest';
import { seed } from './random.ts';
import { rounds } from './rounds.ts';

const root = `${import.meta.dirname}/../..`;
/** Installed by `make test-long`. */
const schemathesis = `${root}/.local/schemathesis/bin/schemathesis`;
const examples = rounds({ short: 0, long: 100 });

/** Timeout in milliseconds for a test with `followsDescription`. */
export const schemathesisTimeout = 1_800_000;

/** Skips the test unless schemathesis can run now. */
export function needSchemathesis(context: TestContext): void {
  context.skip(examples === 0, 'runs in make test-long');
  context.skip(!existsSync(schemathesis), 'needs schemathesis from PyPI (python3 with venv)');
}

/** Expects the service at `url` to conform to its /openapi.json. `workspace` is the folder of `schemathesis.toml`. */
export async function followsDescription(url: string, workspace: string): Promise<void> {
  const settings = ['--config-file', `${root}/${workspace}/schemathesis.toml`];
  const generation = ['--max-examples', `${examples}`, '--seed', `${seed}`];
  const run = promisify(execFile)(
    schemathesis,
    [...settings, 'run', `${url}openapi.json`, ...generation, '--no-color'],
    { maxBuffer: 64 * 1024 ** 2, cwd: `${root}/.local` },
  );
  const { code = 0, stdout } = await run.catch((error) => error);
  expect(code, stdout).toBe(0);
  expect(stdout).toMatch(/\d+ generated, \d+ passed/);
}
