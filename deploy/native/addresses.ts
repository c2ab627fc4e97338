export interface Addresses {
  /** What nginx listens on, for its `listen` directives. */
  readonly listen: readonly string[];
  /** The host of URLs that reach the proxy from this machine. */
  readonly host: string;
  /** As LONGHAND_BIND; 0.0.0.0 for all addresses of both families. */
  readonly bind: string;
}

/** @param bind an IP address; `::` stands for every address of both families, as in most servers. */
export function addressesOf(bind: string): Addresses {
  const { hostname } = new URL(`http://${bind.includes(':') ? `[${bind}]` : bind}`);
  const everywhere = hostname === '[::]' || hostname === '0.0.0.0';
  return {
    listen: hostname === '[::]' ? ['0.0.0.0', '[::]'] : [hostname],
    host: everywhere ? '127.0.0.1' : hostname,
    bind: everywhere ? '0.0.0.0' : hostname,
  };
}
