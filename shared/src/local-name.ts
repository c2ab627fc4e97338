import { isIP } from 'node:net';

/** Names that public DNS does not have: RFC 6761, RFC 6762, RFC 8375, ICANN's .internal, and single labels. */
const localName = /^[^.]+$|\.(localhost|local|internal|home\.arpa)$/;

/**
 * Whether the value of a Host header is an address or a name that public DNS does not have. Under any other name the
 * client may be a website whose name was made to lead here (DNS rebinding). The proxy applies the same rule to the
 * port of tasks.
 */
export function isLocalName(host: string): boolean {
  const name = host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
  return isIP(name) !== 0 || localName.test(name);
}
