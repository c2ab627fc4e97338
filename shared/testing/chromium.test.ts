import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

test.runIf(process.platform === 'linux')(
  'Chromium is started so that it cannot hear of interfaces that come and go',
  async () => {
    // Node in its place asks for the interfaces, over the same kind of socket.
    const ask = ['-p', 'os.networkInterfaces()'];
    await run(process.execPath, ask);
    const env = { ...process.env, CHROMIUM: process.execPath };
    await expect(run(`${import.meta.dirname}/chromium.pl`, ask, { env })).rejects.toThrow(
      'uv_interface_addresses returned',
    );
  },
);
