import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { isLocalName } from '@longhand/shared/local-name.ts';
import ip from 'ipaddr.js';
import { type ErrorReason, ExpansionError } from '../expansion/errors.ts';
import type { FetchHop } from '../expansion/expansion.ts';

/** Decides which targets the expander may contact. The checks throw ExpansionError `target_refused`. */
export interface Guard {
  /** Checks the credentials, port and host of a URL. */
  checkUrl(url: URL): void;
  /** Checks all addresses of a host name. Call this before connecting to the host. */
  checkAddresses(hostname: string, addresses: readonly LookupAddress[]): void;
  /** Whether `address` is in an allowed network. */
  isExempt(address: string): boolean;
}

type Address = ip.IPv4 | ip.IPv6;
type Network = [Address, number];

/** The only public unicast IPv6 space (RFC 4291, section 2.4). */
const globalUnicast: Network = ip.parseCIDR('2000::/3');

/** Azure serves a virtual machine's secrets at this public address. */
const azureMetadata: Network = ip.parseCIDR('168.63.129.16/32');

/** The well-known NAT64 prefix (RFC 6052), followed by an IPv4 address. */
const nat64: Network = ip.parseCIDR('64:ff9b::/96');

/** ISATAP (RFC 5214) puts an IPv4 address into the interface identifier of any prefix. */
const isatap = /:(?:0|200):5efe:[^:]+:[^:]+$/;

/** ipaddr.js ranges for home and company networks. */
const privateRanges = ['private', 'carrierGradeNat', 'linkLocal', 'uniqueLocal', 'deprecatedSiteLocal'];

/** Bad ports in the Fetch standard, section "Port blocking". */
const fetchStandard = [
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/** Ports of Docker, etcd, MySQL, PostgreSQL, Redis, Consul, Elasticsearch, kubelet, memcached and MongoDB. */
const dataStoresAndControlPlanes = [2375, 2376, 2379, 3306, 5432, 6379, 8500, 9200, 10250, 11211, 27017];

const refusedPorts: ReadonlySet<string> = new Set(
  [...fetchStandard, ...dataStoresAndControlPlanes].map(String),
);

/**
 * Creates a guard that accepts public unicast addresses and addresses in `allowedNetworks` (CIDRs). It accepts a local name only
 * if all its addresses are in `allowedNetworks`.
 */
export function createGuard(allowedNetworks: readonly string[] = [], refusals?: { inc(): void }): Guard {
  const allowed = allowedNetworks.map((cidr) => ip.parseCIDR(cidr) as Network);
  const isAllowed = (address: Address) => allowed.some((network) => contains(network, address));
  const refused = (message: string, reason: ErrorReason = 'private_address') => {
    refusals?.inc();
    return new ExpansionError('target_refused', message, { reason });
  };

  const hostRefusal = (hostname: string) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) === 0) {
      return allowed.length === 0 && isLocalName(host) ? `${host} is a local network name.` : null;
    }
    const address = ip.parse(host);
    if (isAllowed(address) || isPublic(address)) return null;
    const range = address.range();
    if (privateRanges.includes(range)) return `${hostname} belongs to a private network.`;
    return range === 'loopback'
      ? `${hostname} is the address of the local computer.`
      : `${hostname} is not a public address.`;
  };

  return {
    checkUrl(url) {
      if (url.username || url.password)
        throw refused('The URL contains a user name or a password.', 'credentials');
      if (refusedPorts.has(url.port)) throw refused(`Websites do not use port ${url.port}.`, 'port');
      const refusal = hostRefusal(url.hostname);
      if (refusal) throw refused(refusal);
    },
    checkAddresses(hostname, addresses) {
      const local = isLocalName(hostname);
      for (const address of addresses.map((answer) => ip.parse(answer.address))) {
        if (isAllowed(address)) continue;
        if (local) throw refused(`${hostname} is a local network name.`);
        if (!isPublic(address)) throw refused(`${hostname} has an address that is not public.`);
      }
    },
    isExempt: (address) => isAllowed(ip.parse(address)),
  };
}

/** A layer that checks each URL before requesting it. */
export function checkUrls({ checkUrl }: Pick<Guard, 'checkUrl'>) {
  return (fetchHop: FetchHop): FetchHop =>
    async (url, request) => {
      checkUrl(url);
      return fetchHop(url, request);
    };
}

/**
 * Whether an address is public unicast. ipaddr.js contains IANA's special-purpose registries. IPv4-compatible, local NAT64,
 * 6to4 and Teredo addresses are never public.
 */
export function isPublic(address: Address): boolean {
  const range = address.range();
  const embedded = () => isPublic(ip.fromByteArray(address.toByteArray().slice(-4)));
  if (range === 'ipv4Mapped' || contains(nat64, address)) return embedded();
  if (range !== 'unicast' || contains(azureMetadata, address)) return false;
  if (address.kind() === 'ipv4') return true;
  return contains(globalUnicast, address) && (!isatap.test(address.toNormalizedString()) || embedded());
}

function contains(network: Network, address: Address): boolean {
  return network[0].kind() === address.kind() && address.match(network);
}
