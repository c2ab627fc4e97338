import { BlockList, isIPv6 } from 'node:net';
import ip from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { specialPurposeBlocks } from '../../testing/iana.ts';
import { isPublic } from './public-address.ts';

const registered = [...specialPurposeBlocks('ipv4'), ...specialPurposeBlocks('ipv6')];

/**
 * What the registries do not list: IPv4 multicast (RFC 5771), the cloud metadata address of Azure, and the IPv6 space
 * outside 2000::/3, the only one that is global unicast (RFC 4291).
 */
const others = ['224.0.0.0/4', '168.63.129.16/32', '::/3', '4000::/2', '8000::/1', 'fec0::/10', 'ff00::/8'];
const blocks = [...registered, ...others];

const family = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

/** Node's own BlockLists, which share no code with the guard: one a family, or IPv6 blocks match IPv4 too. */
const expected = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const block of blocks) {
  const [address = '', prefix] = block.split('/');
  expected[family(address)].addSubnet(address, Number(prefix), family(address));
}

/** Mapped and NAT64 addresses are judged by what they carry; every other one by its own block. */
const carries = /^::ffff:|^64:ff9b::/;
const isRefused = (address: string) => !isPublic(ip.parse(address));

/** The address `offset` away, or null beyond either end of the address space. */
function neighbour(address: string, offset: bigint): string | null {
  const bytes = ip.parse(address).toByteArray();
  const value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`) + offset;
  if (value < 0n || value >= 1n << BigInt(bytes.length * 8)) return null;
  const hex = value.toString(16).padStart(bytes.length * 2, '0');
  return ip.fromByteArray([...Buffer.from(hex, 'hex')]).toString();
}

test("the files hold IANA's registries whole", () => {
  expect(specialPurposeBlocks('ipv4')).toHaveLength(26);
  expect(specialPurposeBlocks('ipv6')).toHaveLength(25);
});

describe('each block that is not public unicast', () => {
  test.each(blocks)(
    '%s: its first and last address are refused, its neighbours judged for themselves',
    (block) => {
      const [address = '', prefix] = block.split('/');
      const size = 1n << BigInt((isIPv6(address) ? 128 : 32) - Number(prefix));
      const first = neighbour(address, 0n) as string;
      const last = neighbour(address, size - 1n) as string;
      const edges = [neighbour(first, -1n), first, last, neighbour(last, 1n)].filter((edge) => edge !== null);
      for (const edge of edges.filter((edge) => !carries.test(edge))) {
        expect(isRefused(edge), edge).toBe(expected[family(edge)].check(edge, family(edge)));
      }
      if (!carries.test(first)) expect([isRefused(first), isRefused(last)]).toEqual([true, true]);
    },
  );
});
