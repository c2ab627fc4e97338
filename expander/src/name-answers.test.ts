import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

/** Runs a shell script in a network and mount namespace of its own, from which no packet leaves. */
const namespace = (script: string, ...rest: string[]) =>
  ['unshare', ['--net', '--mount', 'sh', '-ec', script, 'sh', ...rest]] as const;

/** Why a namespace cannot be made here, if so. */
function impossible(): string | null {
  const { status, stderr, error } = spawnSync(
    ...namespace('ip link set lo up && mount --bind /etc/hosts /etc/resolv.conf'),
    {
      encoding: 'utf8',
    },
  );
  return status === 0 ? null : `needs root, util-linux and iproute2: ${error?.message ?? stderr.trim()}`;
}

/** An address that looks public on the loopback interface makes the resolver ask for AAAA records as well. */
const script = `
  ip link set lo up
  for address in 93.184.216.34/32 10.0.0.1/32 2606:2800:220:1::1/128 fd00::1/128; do
    ip address add $address dev lo
  done
  mount --bind "$1" /etc/resolv.conf
  exec "$2" "$3"`;

describe('every answer of a name is judged, by the resolver of the system', () => {
  test('a name with a private address among its answers, whenever and however given, is not dialled there', ({
    skip,
  }) => {
    const reason = impossible();
    skip(reason !== null, reason ?? '');
    const folder = mkdtempSync(join(tmpdir(), 'longhand-names-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const resolver = join(folder, 'resolv.conf');
    writeFileSync(resolver, 'nameserver 127.0.0.1\n');
    const names = fileURLToPath(new URL('../testing/namespace-names.ts', import.meta.url));
    const told = execFileSync(...namespace(script, resolver, process.execPath, names), {
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
    });

    const arrived = (address: string) => ({ end: 'final', redirectCount: 1, dialled: [address, address] });
    const refused = { end: 'target_refused', redirectCount: 0, dialled: [] };
    expect(JSON.parse(told)).toEqual({
      'v4.example': arrived('93.184.216.34'),
      'v6.example': arrived('2606:2800:220:1::1'),
      'mixed.example': refused,
      'other-family.example': refused,
      'alias.example': refused,
      'rebound.example': { end: 'target_refused', redirectCount: 1, dialled: ['93.184.216.34'] },
    });
  });
});
