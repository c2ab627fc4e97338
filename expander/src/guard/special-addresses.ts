/**
 * The blocks of the IANA special-purpose address registries for IPv4 and IPv6 (RFC 6890), under the names that they have
 * there, without those inside of others; and what the registries leave out. The first one that holds an address names it.
 *
 * Blocks that the registries call globally reachable stand here as well: they are anycast addresses of
 * protocols and sinks for misdirected queries, and no website is to be found in them.
 */
export const specialAddresses: readonly (readonly [block: string, name: string])[] = [
  // Cloud platforms serve the requesting machine's secrets here.
  ['100.100.100.200/32', 'cloud metadata (Alibaba)'],
  ['168.63.129.16/32', 'cloud metadata (Azure)'],
  ['169.254.169.254/32', 'cloud metadata'],
  ['fd00:ec2::254/128', 'cloud metadata (Amazon)'],

  ['0.0.0.0/8', 'this network (RFC 791)'],
  ['10.0.0.0/8', 'private use (RFC 1918)'],
  ['100.64.0.0/10', 'shared address space (RFC 6598)'],
  ['127.0.0.0/8', 'loopback (RFC 1122)'],
  ['169.254.0.0/16', 'link local (RFC 3927)'],
  ['172.16.0.0/12', 'private use (RFC 1918)'],
  ['192.0.0.0/24', 'IETF protocol assignments (RFC 6890)'],
  ['192.0.2.0/24', 'documentation (RFC 5737)'],
  ['192.31.196.0/24', 'AS112-v4 (RFC 7535)'],
  ['192.52.193.0/24', 'AMT (RFC 7450)'],
  ['192.88.99.0/24', '6to4 relay anycast, deprecated (RFC 7526)'],
  ['192.168.0.0/16', 'private use (RFC 1918)'],
  ['192.175.48.0/24', 'direct delegation AS112 service (RFC 7534)'],
  ['198.18.0.0/15', 'benchmarking (RFC 2544)'],
  ['198.51.100.0/24', 'documentation (RFC 5737)'],
  ['203.0.113.0/24', 'documentation (RFC 5737)'],
  ['240.0.0.0/4', 'reserved (RFC 1112)'],

  ['::/128', 'unspecified address (RFC 4291)'],
  ['::1/128', 'loopback (RFC 4291)'],
  ['::ffff:0:0/96', 'IPv4-mapped (RFC 4291)'],
  ['64:ff9b::/96', 'IPv4-IPv6 translation (RFC 6052)'],
  ['64:ff9b:1::/48', 'local-use IPv4-IPv6 translation (RFC 8215)'],
  ['100::/64', 'discard only (RFC 6666)'],
  ['100:0:0:1::/64', 'dummy prefix (RFC 9780)'],
  ['2001::/23', 'IETF protocol assignments (RFC 2928)'],
  ['2001:db8::/32', 'documentation (RFC 3849)'],
  ['2002::/16', '6to4 (RFC 3056)'],
  ['2620:4f:8000::/48', 'direct delegation AS112 service (RFC 7534)'],
  ['3fff::/20', 'documentation (RFC 9637)'],
  ['5f00::/16', 'segment routing (RFC 9602)'],
  ['fc00::/7', 'unique local (RFC 4193)'],
  ['fe80::/10', 'link local (RFC 4291)'],

  ['224.0.0.0/4', 'multicast (RFC 5771)'],
  ['ff00::/8', 'multicast (RFC 4291)'],
  ['fec0::/10', 'site local, deprecated (RFC 3879)'],
  ['::/96', 'IPv4-compatible, deprecated (RFC 4291)'],
];
