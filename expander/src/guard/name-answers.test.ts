import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

/**
 * A shell script in a network and a mount namespace of its own, from which no packet leaves. The address that
 * looks public on the loopback interface makes the resolver ask for AAAA records as well.
 */
const namespace = (script: string, ...rest: string[]) =>
  ['unshare', ['--net', '--mount', 'sh', '-ec', setup + script, 'sh', ...rest]] as const;

const setup = `
  ip link set lo up
  for address in 93.184.216.34/32 10.0.0.1/32 2606:2800:220:1::1/128 fd00::1/128; do
    ip address add $address dev lo
  done
  mount --bind "$1" /etc/resolv.conf
`;

/** A file that says where names are asked: at the name server in the namespace. */
function resolverFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-names-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'resolv.conf');
  writeFileSync(file, 'nameserver 127.0.0.1\n');
  return file;
}

/** Why such a namespace cannot be made here, if so. */
function hindrance(resolver: string): string | null {
  const { status, stderr, error } = spawnSync(...namespace('', resolver), { encoding: 'utf8' });
  if (status === 0) return null;
  return `a network namespace needs root, util-linux, iproute2 and IPv6: ${error?.message ?? stderr.trim()}`;
}

describe('every answer of a name is judged, by the resolver of the system', () => {
  test('a name with a private address among its answers, whenever and however given, is not dialled there', (context) => {
    const resolver = resolverFile();
    const reason = hindrance(resolver);
    context.skip(reason !== null, reason ?? '');
    const names = fileURLToPath(new URL('../../testing/namespace-names.ts', import.meta.url));
    const told = execFileSync(...namespace('exec "$2" "$3"', resolver, process.execPath, names), {
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
      'beside silence': 'final',
      'rebound.example': { end: 'target_refused', redirectCount: 1, dialled: ['93.184.216.34'] },
    });
  });
});
