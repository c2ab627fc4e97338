import { BlockList, isIPv6 } from 'node:net';
import ip from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { specialPurposeBlocks } from '../../testing/iana.ts';
import { words } from '../../testing/pieces.ts';
import { createGuard, isPublic } from './public-address.ts';

const isRefused = (address: string) => !isPublic(ip.parse(address));

describe('an IPv4 address inside an IPv6 address', () => {
  test.each([
    ['IPv4-mapped, private', '::ffff:10.0.0.1'],
    ['IPv4-mapped, loopback, in hexadecimal', '::ffff:7f00:1'],
    ['IPv4-compatible, loopback', '::7f00:1'],
    ['IPv4-compatible, public', '::808:808'],
    ['IPv4-translated', '::ffff:0:808:808'],
    ['NAT64, loopback', '64:ff9b::7f00:1'],
    ['NAT64, metadata', '64:ff9b::a9fe:a9fe'],
    ['local NAT64, private', '64:ff9b:1::a00:1'],
    ['local NAT64, public', '64:ff9b:1::808:808'],
    ['6to4, private', '2002:a00:1::'],
    ['6to4, public', '2002:808:808::1'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['ISATAP, private', '2606:4700::5efe:a00:1'],
    ['ISATAP with the universal bit, loopback', '2606:4700::200:5efe:7f00:1'],
    ['ISATAP in a link-local prefix, public', 'fe80::5efe:808:808'],
  ])('is refused: %s', (_, address) => {
    expect(isRefused(address)).toBe(true);
  });

  test.each([
    ['IPv4-mapped', '::ffff:8.8.8.8'],
    ['NAT64', '64:ff9b::808:808'],
    ['ISATAP in a global prefix', '2606:4700::5efe:808:808'],
  ])('is accepted if it is public: %s', (_, address) => {
    expect(isRefused(address)).toBe(false);
  });
});

const refusal = expect.objectContaining({ code: 'target_refused' });
const check = (url: string, allowed: string[] = []) => createGuard(allowed).checkUrl(new URL(url));

describe('a URL', () => {
  test.each(words`
    http://user@example.com/ http://:secret@example.com/ http://@user:@example.com/
    http://localhost/ http://LOCALHOST./ http://a.localhost/ http://printer/ http://printer./
    http://printer.local/ http://printer.local./ http://metadata.google.internal/ http://router.home.arpa/ http://home.arpa/
    http://127.0.0.1/ http://127.1/ http://2130706433/ http://0x7f.0.0.1/ http://0177.0.0.1/
    http://127.0.0.1./ http://①②⑦.0.0.1/ http://0/ http://[::]/ http://[::1]/ http://[fec0::1]/
    http://[::7f00:1]/ http://[::ffff:169.254.169.254]/ http://[fe80::1]/ http://[ff02::1]/
  `)('is refused: %s', (url) => {
    expect(() => check(url)).toThrow(refusal);
  });

  test.each([
    ['http://192.168.0.1/', '192.168.0.1 belongs to a private network.'],
    ['http://[::1]/', '[::1] is the address of the local computer.'],
    ['http://192.0.2.1/', '192.0.2.1 is not a public address.'],
  ])('is refused with a specific message: %s', (url, message) => {
    expect(() => check(url)).toThrow(message);
  });

  test.each(words`
    http://example.com/ https://8.8.8.8/ http://[2606:4700::1111]:8080/ http://internal.example/
  `)('is accepted: %s', (url) => {
    expect(() => check(url)).not.toThrow();
  });

  test.each([
    ...[1, 7, 9, 21, 22, 23, 25, 53, 110, 143, 389, 465, 587, 636, 993, 2049, 5060, 6000, 6665, 6697, 10080],
    ...[2375, 2376, 2379, 3306, 5432, 6379, 8500, 9200, 10250, 11211, 27017],
  ])('to port %i is refused, even in an allowed network', (port) => {
    expect(() => check(`http://example.com:${port}/`)).toThrow(refusal);
    expect(() => check(`http://127.0.0.1:${port}/`, ['127.0.0.0/8'])).toThrow(refusal);
  });

  test.each([80, 443, 8080, 8443, 3000, 65535])('to port %i is accepted', (port) => {
    expect(() => check(`http://example.com:${port}/`)).not.toThrow();
  });
});

describe('the addresses of a name', () => {
  const answers = (name: string, addresses: string[], allowed: string[] = []) =>
    createGuard(allowed).checkAddresses(
      name,
      addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 })),
    );

  test('are accepted if all are public', () => {
    expect(() => answers('example.com', ['8.8.8.8', '2606:4700::1111'])).not.toThrow();
  });

  test.each([[['8.8.8.8', '10.0.0.1']], [['2606:4700::1111', '::1']], [['169.254.169.254']]])(
    'are refused unless all are public: %j',
    (addresses) => {
      expect(() => answers('example.com', addresses)).toThrow(refusal);
    },
  );
});

describe('EXPANDER_ALLOWED_NETWORKS', () => {
  test('allows only addresses in the listed networks', () => {
    const guard = createGuard(['10.1.0.0/16', '::1/128']);
    expect(() => guard.checkUrl(new URL('http://10.1.2.3/'))).not.toThrow();
    expect(() => guard.checkUrl(new URL('http://[::1]/'))).not.toThrow();
    expect(() => guard.checkUrl(new URL('http://10.2.0.1/'))).toThrow(refusal);
    expect(() => guard.checkUrl(new URL('http://[::ffff:10.2.0.1]/'))).toThrow(refusal);
  });

  test('allows a local name only if all its addresses are listed', () => {
    const guard = createGuard(['127.0.0.0/8']);
    const answer = (address: string) => ({ address, family: isIPv6(address) ? 6 : 4 });
    expect(() => guard.checkUrl(new URL('http://localhost/'))).not.toThrow();
    expect(() => guard.checkAddresses('localhost', [answer('127.0.0.1')])).not.toThrow();
    expect(() => guard.checkAddresses('localhost', [answer('127.0.0.1'), answer('::1')])).toThrow(refusal);
    expect(() => guard.checkAddresses('printer', [answer('8.8.8.8')])).toThrow(refusal);
  });

  test('does not allow credentials', () => {
    expect(() => check('http://user@127.0.0.1/', ['127.0.0.0/8'])).toThrow(refusal);
  });
});

const registered = [...specialPurposeBlocks('ipv4'), ...specialPurposeBlocks('ipv6')];

/**
 * Blocks that are not in the registries: IPv4 multicast (RFC 5771), Azure's metadata address, and IPv6 space outside 2000::/3,
 * the only global unicast block (RFC 4291).
 */
const others = ['224.0.0.0/4', '168.63.129.16/32', '::/3', '4000::/2', '8000::/1', 'fec0::/10', 'ff00::/8'];
const blocks = [...registered, ...others];

const family = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

/** Independent expected results. Each family needs a separate list, because IPv6 blocks would also match IPv4. */
const expected = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const block of blocks) {
  const [address = '', prefix] = block.split('/');
  expected[family(address)].addSubnet(address, Number(prefix), family(address));
}

/** Matches IPv4-mapped and NAT64 addresses. The guard checks the embedded IPv4 address. */
const embedsIPv4 = /^::ffff:|^64:ff9b::/;

/** Returns the address at `offset` from `address`; null outside the address space. */
function neighbour(address: string, offset: bigint): string | null {
  const bytes = ip.parse(address).toByteArray();
  const value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`) + offset;
  if (value < 0n || value >= 1n << BigInt(bytes.length * 8)) return null;
  const hex = value.toString(16).padStart(bytes.length * 2, '0');
  return ip.fromByteArray([...Buffer.from(hex, 'hex')]).toString();
}

test('the registry files are complete', () => {
  expect(specialPurposeBlocks('ipv4')).toHaveLength(26);
  expect(specialPurposeBlocks('ipv6')).toHaveLength(25);
});

describe('a block that is not public unicast', () => {
  test.each(blocks)('is refused, unlike its public neighbours: %s', (block) => {
    const [address = '', prefix] = block.split('/');
    const size = 1n << BigInt((isIPv6(address) ? 128 : 32) - Number(prefix));
    const first = neighbour(address, 0n) as string;
    const last = neighbour(address, size - 1n) as string;
    const edges = [neighbour(first, -1n), first, last, neighbour(last, 1n)].filter((edge) => edge !== null);
    for (const edge of edges.filter((edge) => !embedsIPv4.test(edge)))
      expect(isRefused(edge), edge).toBe(expected[family(edge)].check(edge, family(edge)));
  });
});
