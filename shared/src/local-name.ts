/** Names that are never in public DNS (RFC 6761, RFC 6762, RFC 8375, ICANN's `.internal`), and names without a dot. */
const localName = /^[^.]+$|(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/** Whether public DNS never contains `host`, which may end with a dot. nginx applies this rule to the tasks' names. */
export function isLocalName(host: string): boolean {
  return localName.test(host.toLowerCase().replace(/\.$/, ''));
}
