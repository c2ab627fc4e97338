import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

/** A command that runs a shell script in new network and mount namespaces, with the folder `$1` mounted at `/etc`. */
const namespace = (script: string, ...rest: string[]) =>
  ['unshare', ['--net', '--mount', 'sh', '-ec', setup + script, 'sh', ...rest]] as const;

const setup = `
  ip link set lo up
  for address in 93.184.216.34/32 10.0.0.1/32 2606:2800:220:1::1/128 fd00::1/128; do
    ip address add $address dev lo
  done
  mount --bind "$1" /etc
`;

test.for(['http', 'HTTP/2'])(
  'never connects to a name with a private address, even after DNS rebinding: %s',
  (protocol, context) => {
    const folder = mkdtempSync(join(tmpdir(), 'longhand-names-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\n');
    const { status, stderr, error } = spawnSync(...namespace('', folder), { encoding: 'utf8' });
    const reason = `a network namespace needs root, util-linux, iproute2 and IPv6: ${error?.message ?? stderr}`;
    context.skip(status !== 0, reason);
    const names = fileURLToPath(new URL('../../testing/namespace-names.ts', import.meta.url));
    const output = execFileSync(
      ...namespace('exec "$2" "$3" "$4"', folder, process.execPath, names, protocol),
      {
        encoding: 'utf8',
        env: { PATH: process.env.PATH },
      },
    );

    const reached = (address: string) => ({ end: 'final', redirectCount: 1, contacted: [address, address] });
    const refused = { end: 'target_refused', redirectCount: 0, contacted: [] };
    expect(JSON.parse(output)).toEqual({
      'v4.example': reached('93.184.216.34'),
      'v6.example': reached('2606:2800:220:1::1'),
      'mixed.example': refused,
      'other-family.example': refused,
      'rebound.example': { end: 'target_refused', redirectCount: 1, contacted: ['93.184.216.34'] },
      'after resolv.conf is overwritten': ['unknown_name', 'final'],
      'after resolv.conf is replaced': ['unknown_name', 'final'],
    });
  },
);
