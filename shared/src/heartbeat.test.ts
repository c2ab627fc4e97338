import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

/** Runs a program whose heart beats into a pipe. */
function beating(...lines: string[]) {
  const heartbeat = JSON.stringify(join(import.meta.dirname, 'heartbeat.ts'));
  const code = [...lines, `require(${heartbeat}).startHeartbeat(3);`].join('\n');
  const service = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] });
  return { service, pipe: service.stdio[3] as Readable };
}

test('the heart beats at once, and again before watched.sh misses it', async () => {
  const clock = "const { timers } = require('node:test').mock; timers.enable({ apis: ['setInterval'] });";
  const { pipe } = beating(clock, 'setImmediate(() => timers.tick(749));');
  expect(await text(pipe)).toBe('..');
});

test('the heart keeps no service from ending, also where nobody reads', async () => {
  for (const isRead of [true, false]) {
    const { service, pipe } = beating();
    if (isRead) pipe.resume();
    else pipe.destroy();
    expect(await once(service, 'exit')).toEqual([0, null]);
  }
});
