import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import ip from 'ipaddr.js';
import { type ErrorReason, ExpansionError } from '../expansion/errors.ts';
import type { FetchHop } from '../expansion/expansion.ts';
import { refusedPorts } from './refused-ports.ts';
import { specialAddresses } from './special-addresses.ts';

/** Decides which targets may be contacted. The first two methods throw an ExpansionError `target_refused`. */
export interface Guard {
  /** Checks the URL itself: credentials, port, local names, and a host that is an address. */
  checkUrl(url: URL): void;
  /** Checks every address of a name, before a connection to one of them is opened. */
  checkAddresses(hostname: string, addresses: readonly LookupAddress[]): void;
  /** Whether `address` is in an allowed network. */
  isExempt(address: string): boolean;
}

type Address = ip.IPv4 | ip.IPv6;
type Network = [Address, number];

/** The only IPv6 space that is public unicast (RFC 4291 section 2.4, and IANA's allocation of it). */
const globalUnicast: Network = ip.parseCIDR('2000::/3');

const special = specialAddresses.map(([block, name]) => ({ network: ip.parseCIDR(block) as Network, name }));

/** Names that mean a host nearby: RFC 6761, RFC 6762, RFC 8375, ICANN's `.internal`, and single labels. */
const localName = /^[^.]+$|(?:^|\.)(?:localhost|local|internal|home\.arpa)$/i;

/** Names of blocks that are used at home and at work; the registry's names explain the others. */
const privateNetwork = /^(?:private use|shared address space|link local|unique local|site local)\b/;

/** Whether `text` is a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  return ip.isValidCIDR(text);
}

/**
 * A guard that accepts public unicast addresses only, and those in `allowedNetworks` (CIDRs). With `allowedNetworks`,
 * it accepts a name that can only be local if all its addresses are in them.
 *
 * @param refusals counts refusals.
 */
export function createGuard(allowedNetworks: readonly string[] = [], refusals?: { inc(): void }): Guard {
  const allowed = allowedNetworks.map((cidr) => ip.parseCIDR(cidr) as Network);
  const isAllowed = (address: Address) => allowed.some((network) => contains(network, address));
  const refused = (message: string, reason: ErrorReason = 'private_address') => {
    refusals?.inc();
    return new ExpansionError('target_refused', message, { reason });
  };

  const hostRefusal = (hostname: string) => {
    const host = withoutDot(hostname.replace(/^\[|\]$/g, ''));
    if (isIP(host) !== 0) {
      const address = ip.parse(host);
      const reason = isAllowed(address) ? null : notPublic(address);
      if (!reason) return null;
      if (privateNetwork.test(reason)) return `${hostname} belongs to a private network.`;
      if (reason.startsWith('loopback')) return `${hostname} always means the computer itself.`;
      return `${hostname} is not a public address: ${reason}.`;
    }
    return allowed.length === 0 && localName.test(host) ? `${host} is a name in a local network.` : null;
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
      const local = localName.test(withoutDot(hostname));
      for (const address of addresses.map((answer) => ip.parse(answer.address))) {
        if (isAllowed(address)) continue;
        if (local) throw refused(`${hostname} is a name in a local network.`);
        if (notPublic(address)) throw refused(`${hostname} has an address that is not public.`);
      }
    },
    isExempt: (address) => isAllowed(ip.parse(address)),
  };
}

/** A layer that judges each URL before anything contacts it. The addresses of its name are judged as they are dialled. */
export function checkUrls({ checkUrl }: Pick<Guard, 'checkUrl'>) {
  return (fetchHop: FetchHop): FetchHop =>
    async (url, options) => {
      checkUrl(url);
      return fetchHop(url, options);
    };
}

/** Why an address is not public unicast, in a few words; null if it is. */
export function notPublic(address: Address): string | null {
  const bytes = address.toByteArray();
  const inside = embeddedIPv4(bytes);
  if (inside?.transparent) return notPublic(inside.address);
  const block = special.find(({ network }) => contains(network, address));
  if (block) return block.name;
  if (address.kind() === 'ipv6' && !contains(globalUnicast, address)) return 'not global unicast (RFC 4291)';
  return inside ? notPublic(inside.address) : null;
}

/**
 * The IPv4 address inside an IPv6 address. `transparent` means that the two are the same address: IPv4-mapped (RFC 4291)
 * and the well-known NAT64 prefix (RFC 6052). ISATAP (RFC 5214) puts it into the interface identifier of any prefix.
 * The blocks of IPv4-compatible, local NAT64, 6to4 and Teredo addresses are refused as a whole.
 */
function embeddedIPv4(bytes: number[]): { address: Address; transparent: boolean } | null {
  if (bytes.length !== 16) return null;
  const prefix = Buffer.from(bytes.slice(0, 12)).toString('hex');
  const transparent = prefix === '00000000000000000000ffff' || prefix === '0064ff9b0000000000000000';
  if (!transparent && !/0[02]005efe$/.test(prefix)) return null;
  return { address: ip.fromByteArray(bytes.slice(12)), transparent };
}

function contains(network: Network, address: Address): boolean {
  return network[0].kind() === address.kind() && address.match(network);
}

function withoutDot(hostname: string): string {
  return hostname.replace(/\.$/, '');
}
