import type { LookupAddress } from 'node:dns';
import ip from 'ipaddr.js';
import { ExpansionError } from './expansion-error.ts';

/** Says which targets may be contacted. Both methods throw an ExpansionError `target_refused`. */
export interface Guard {
  /** Judges what the URL itself says: credentials, port, local names, and a host that is an address. */
  checkUrl(url: URL): void;
  /** Judges every address that a name stands for, before one of them is dialled. */
  checkAddresses(hostname: string, addresses: readonly LookupAddress[]): void;
}

type Network = [ip.IPv4 | ip.IPv6, number];

/**
 * Blocks that are not public unicast: the IANA special-purpose address registries for IPv4 and IPv6,
 * multicast, and addresses of cloud platforms. Blocks that the registries call globally reachable (anycast
 * of a protocol, AS112) are in as well: no website is to be found there.
 */
const specialBlocks: readonly (readonly [cidr: string, name: string])[] = [
  ['0.0.0.0/8', 'this network (RFC 791)'],
  ['10.0.0.0/8', 'private use (RFC 1918)'],
  ['100.64.0.0/10', 'shared address space (RFC 6598)'],
  ['127.0.0.0/8', 'loopback (RFC 1122)'],
  ['168.63.129.16/32', 'a cloud platform (Azure)'],
  ['169.254.0.0/16', 'link local (RFC 3927)'],
  ['172.16.0.0/12', 'private use (RFC 1918)'],
  ['192.0.0.0/24', 'IETF protocol assignments (RFC 6890)'],
  ['192.0.2.0/24', 'documentation (RFC 5737)'],
  ['192.31.196.0/24', 'AS112 (RFC 7535)'],
  ['192.52.193.0/24', 'automatic multicast tunneling (RFC 7450)'],
  ['192.88.99.0/24', '6to4 relay anycast, deprecated (RFC 7526)'],
  ['192.168.0.0/16', 'private use (RFC 1918)'],
  ['192.175.48.0/24', 'AS112 (RFC 7534)'],
  ['198.18.0.0/15', 'benchmarking (RFC 2544)'],
  ['198.51.100.0/24', 'documentation (RFC 5737)'],
  ['203.0.113.0/24', 'documentation (RFC 5737)'],
  ['224.0.0.0/4', 'multicast (RFC 5771)'],
  ['240.0.0.0/4', 'reserved, and limited broadcast (RFC 1112, RFC 919)'],
  ['2001::/23', 'IETF protocol assignments, Teredo among them (RFC 2928, RFC 4380)'],
  ['2001:db8::/32', 'documentation (RFC 3849)'],
  ['2002::/16', '6to4 (RFC 3056)'],
  ['2620:4f:8000::/48', 'AS112 (RFC 7534)'],
  ['3fff::/20', 'documentation (RFC 9637)'],
];

const globalUnicast = ip.parseCIDR('2000::/3');
const specials = specialBlocks.map(([cidr, name]) => ({ network: ip.parseCIDR(cidr) as Network, name }));

/** The port block list of the Fetch standard, section "Port blocking". */
const fetchBlockedPorts = [
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];
/** Docker, etcd, MySQL, PostgreSQL, Redis, Consul, Elasticsearch, kubelet, memcached, MongoDB. */
const controlPorts = [2375, 2376, 2379, 3306, 5432, 6379, 8500, 9200, 10250, 11211, 27017];
const refusedPorts = new Set([...fetchBlockedPorts, ...controlPorts].map(String));

/** Names that mean a host nearby: RFC 6761, RFC 6762, RFC 8375, and ICANN's `.internal`. */
const localName = /^[^.]+$|(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/** Whether `text` is a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  return ip.isValidCIDR(text);
}

/**
 * A guard that passes public unicast addresses only, plus the addresses in `allowedNetworks` (CIDRs).
 * A name that can only be local passes where all its addresses lie in `allowedNetworks`.
 */
export function createGuard(allowedNetworks: readonly string[] = []): Guard {
  const allowed = allowedNetworks.map((cidr) => ip.parseCIDR(cidr) as Network);
  const isAllowed = (address: string) => allowed.some((network) => contains(network, ip.parse(address)));

  return {
    checkUrl(url) {
      if (url.username || url.password) throw refused('The URL carries credentials.');
      if (refusedPorts.has(url.port))
        throw refused(`Port ${url.port} is not one that web pages are served on.`);
      const host = hostOf(url);
      if (ip.isValid(host)) {
        const reason = isAllowed(host) ? null : notPublic(host);
        if (reason) throw refused(`${url.hostname} is not a public address: ${reason}.`);
      } else if (allowed.length === 0 && isLocalName(host)) {
        throw refused(`${host} can only be a local name.`);
      }
    },
    checkAddresses(hostname, addresses) {
      const local = isLocalName(hostname);
      for (const { address } of addresses) {
        if (isAllowed(address)) continue;
        if (local) throw refused(`${hostname} can only be a local name.`);
        if (notPublic(address)) throw refused(`${hostname} does not lead to public addresses only.`);
      }
    },
  };
}

/**
 * Why an address is not public unicast, or null where it is.
 *
 * IPv4-mapped addresses (RFC 4291) and those behind the well-known NAT64 prefix (RFC 6052) are another way to
 * write an IPv4 address, and are judged as that.
 */
export function notPublic(text: string): string | null {
  const address = ip.parse(text);
  const bytes = address.toByteArray();
  const embedded = embeddedIPv4(bytes);
  if (embedded) return notPublic(embedded);
  if (address.kind() === 'ipv6' && !contains(globalUnicast, address))
    return 'outside global unicast (RFC 4291)';
  return specials.find(({ network }) => contains(network, address))?.name ?? null;
}

/** Prefixes in front of a whole IPv4 address, in hexadecimal: IPv4-mapped, and the NAT64 `64:ff9b::/96`. */
const transparentPrefixes = ['00000000000000000000ffff', '0064ff9b0000000000000000'];

function embeddedIPv4(bytes: number[]): string | null {
  if (bytes.length !== 16) return null;
  const prefix = Buffer.from(bytes.slice(0, 12)).toString('hex');
  return transparentPrefixes.includes(prefix) ? bytes.slice(12).join('.') : null;
}

function contains(network: Network, address: ip.IPv4 | ip.IPv6): boolean {
  return network[0].kind() === address.kind() && address.match(network);
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function isLocalName(hostname: string): boolean {
  return localName.test(hostname.replace(/\.$/, '').toLowerCase());
}

function refused(message: string): ExpansionError {
  return new ExpansionError('target_refused', message);
}
