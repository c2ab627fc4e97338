import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { docker, engineAnswers } from '@longhand/shared/testing/engine.ts';
import { expect, onTestFinished, test } from 'vitest';

const engine = await engineAnswers();
const skipped = engine ? '' : ' (skipped: no Docker engine answers)';

test.skipIf(!engine)(`data of a newer Redis: the log says what to do${skipped}`, async () => {
  const data = mkdtempSync(join(tmpdir(), 'longhand-newer-'));
  onTestFinished(() => rmSync(data, { recursive: true }));
  mkdirSync(join(data, 'appendonlydir'));
  writeFileSync(join(data, 'appendonlydir', 'appendonly.aof.1.base.rdb'), 'REDIS9999');
  writeFileSync(
    join(data, 'appendonlydir', 'appendonly.aof.manifest'),
    'file appendonly.aof.1.base.rdb seq 1 type b\n',
  );
  const root = join(import.meta.dirname, '..', '..');
  const log = await docker(
    ...['run', '--rm', '--network', 'none', '--user', '0:0', '--tmpfs', '/run/redis', '--entrypoint', 'sh'],
    ...['--volume', `${root}/deploy/images/redis.sh:/usr/local/bin/redis.sh:ro`],
    ...['--volume', `${root}/tasks/redis.conf:/etc/redis.conf:ro`, '--volume', `${data}:/data`],
    ...['redis:8.0.2', '-c', 'redis.sh server 2>&1 || true'],
  );
  expect(log).toContain('The saved data in /data/appendonlydir was written by a newer Redis than this one: ');
  expect(log).toContain('make restore FILE=…');
  expect(log).toContain("Can't handle RDB format version");
});
