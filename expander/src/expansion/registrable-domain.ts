import { getDomain } from 'tldts';

/** Whether two hosts belong to different registrable domains by the Public Suffix List; an address is one of its own. */
export function isOtherDomain(a: URL, b: URL): boolean {
  return a.hostname !== b.hostname && registrableDomain(a) !== registrableDomain(b);
}

/** The registrable domain of a host, such as `example.co.uk`; the host itself where it has none. */
export function registrableDomain({ hostname }: URL): string {
  // Customers of a host such as github.io are not one party.
  return getDomain(hostname, { allowPrivateDomains: true, extractHostname: false }) ?? hostname;
}
