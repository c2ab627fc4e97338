import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, chown, cp } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { testFolder } from '@longhand/shared/testing/text-file.ts';
import { describeUnless } from '@longhand/shared/testing/unless.ts';
import { expect, test } from 'vitest';
import { unprivilegedAccount, unusedId, withoutPrivileges } from './folders.ts';

const somebodyElse = { uid: 64_999, gid: 64_999 };

describeUnless(process.getuid?.() !== 0 && 'needs root')('A stack started by root', () => {
  test("runs as the checkout's owner, or as an unused ID if root owns it", async () => {
    const checkout = testFolder();
    await cp('shared/src/service.ts', join(checkout, 'shared/src/service.ts'));
    expect(unprivilegedAccount(checkout)).toBeUndefined();
    await chmod(checkout, 0o755);
    expect(unprivilegedAccount(checkout)).toEqual({ uid: unusedId, gid: unusedId });
    await chown(checkout, somebodyElse.uid, somebodyElse.gid);
    expect(unprivilegedAccount(checkout)).toEqual(somebodyElse);
  });

  test('opens ports below 1024 only if the proxy needs them', async () => {
    const lowPort = await freePort(512);
    const listen = `require('node:net').createServer().listen(${lowPort}, function () { this.close(() => console.log('listened')) })`;
    const attempt = (lowPorts: boolean) => {
      const command = [...withoutPrivileges(somebodyElse, lowPorts), process.execPath, '-e', listen];
      return spawnSync('env', command, { encoding: 'utf8' }).output.join('');
    };
    expect(attempt(true)).toBe('listened\n');
    const unprivileged = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));
    if (lowPort < unprivileged) expect(attempt(false)).toContain('EACCES');
  });
});
