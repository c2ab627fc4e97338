import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { undisturbed } from './chromium.ts';

const run = promisify(execFile);

test('Chromium is started so that it cannot hear of interfaces that come and go', async (context) => {
  if (!undisturbed) return context.skip('needs Linux on x64 or arm64, and perl');
  // Node in its place asks for the interfaces, over the same kind of socket.
  const ask = ['-p', 'os.networkInterfaces()'];
  await run(process.execPath, ask);
  const env = { ...process.env, CHROMIUM: process.execPath };
  await expect(run(undisturbed, ask, { env })).rejects.toThrow('uv_interface_addresses returned');
});
