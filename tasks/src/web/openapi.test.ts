import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { seed } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import { expect, test } from 'vitest';
import { startService } from '../../testing/service.ts';
import { startStore } from '../../testing/store.ts';

const root = `${import.meta.dirname}/../../..`;
/** `make test-long` installs it there. */
const schemathesis = `${root}/.local/schemathesis/bin/schemathesis`;
const examples = rounds({ short: 0, long: 100 });

test('schemathesis finds nothing where the service departs from its description', {
  timeout: 1_800_000,
}, async (context) => {
  context.skip(examples === 0, 'runs in make test-long');
  context.skip(!existsSync(schemathesis), 'needs schemathesis from PyPI (python3 with venv)');
  const kept = await startStore();
  const service = await startService({ REDIS_URL: kept.url });
  const settings = ['--config-file', `${root}/tasks/schemathesis.toml`];
  const generation = ['--max-examples', `${examples}`, '--seed', `${seed}`];
  try {
    const run = promisify(execFile)(
      schemathesis,
      [...settings, 'run', `${service.url}openapi.json`, ...generation, '--no-color'],
      { maxBuffer: 64 * 1024 ** 2, cwd: `${root}/.local` },
    );
    const { code = 0, stdout } = await run.catch((error) => error);
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(/\d+ generated, \d+ passed/);
  } finally {
    await service.end('SIGKILL');
    await kept.stop();
  }
});
