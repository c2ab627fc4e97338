type Directives = ReadonlyMap<string, readonly string[]>;

const whiteSpace = /[\t\n\f\r ]+/;

/** The directives that matter for redirects. Policies without them are skipped, because a header may have thousands. */
const relevant = /sandbox|upgrade-insecure-requests|base-uri/i;

/** Reads a serialized policy list (CSP Level 3, section 2.2.2). The first of two equal directives counts. */
function parsePolicies(header: string): Directives[] {
  const policies = header.split(',').filter((policy) => relevant.test(policy));
  return policies.map((policy) => {
    const directives = new Map<string, string[]>();
    for (const directive of policy.split(';')) {
      const [name = '', ...values] = directive.split(whiteSpace).filter((word) => word !== '');
      if (!directives.has(name.toLowerCase())) directives.set(name.toLowerCase(), values);
    }
    return directives;
  });
}

/** Returns what the policies of the page at `page` mean for redirects. */
export function readPolicies(header: string, page: URL) {
  const policies = parsePolicies(header);
  return {
    /** Whether scripts and meta refreshes run (HTML standard, "sandboxed automatic features"). */
    allowsScripts: policies.every((policy) => {
      const flags = policy.get('sandbox');
      return !flags || flags.some((flag) => flag.toLowerCase() === 'allow-scripts');
    }),
    /** Whether navigations to http URLs of the page's host use https (Upgrade Insecure Requests, section 3.4). */
    upgrades: policies.some((policy) => policy.has('upgrade-insecure-requests')),
    /** Whether `<base>` may have this URL. */
    allowsBase: (base: URL) =>
      policies.every(
        (policy) =>
          policy.get('base-uri')?.some((source) => matches(source.toLowerCase(), base, page)) ?? true,
      ),
  };
}

const schemeSource = /^[a-z][a-z\d+.-]*:$/;
const hostSource = /^(?:([a-z][a-z\d+.-]*:)\/\/)?([^:/?#]+)(?::(\d+|\*))?(\/[^?#]*)?$/;

/** Whether a source expression in lower case matches `url` (CSP Level 3, section 6.7.2.8). */
function matches(source: string, url: URL, page: URL): boolean {
  if (source === '*') return hasScheme(url, 'http:') || hasScheme(url, page.protocol);
  if (schemeSource.test(source)) return hasScheme(url, source);
  if (source === "'self'") {
    return url.hostname === page.hostname && hasScheme(url, page.protocol) && hasPort(url, page.port);
  }
  const [, scheme = page.protocol, host = '', port = '', path = '/'] = hostSource.exec(source) ?? [];
  return hasScheme(url, scheme) && hasHost(url, host) && hasPort(url, port) && hasPath(url, path);
}

/** A source with http matches https, too. */
function hasScheme({ protocol }: URL, scheme: string): boolean {
  return protocol === scheme || (protocol === 'https:' && scheme === 'http:');
}

function hasHost({ hostname }: URL, host: string): boolean {
  if (host === '*') return true;
  return host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host;
}

/** `port` is empty for the default port. */
function hasPort(url: URL, port: string): boolean {
  const standard = url.protocol === 'https:' ? '443' : '80';
  const isUpgrade = url.protocol === 'https:' && port === '80';
  return port === '*' || url.port === port || (url.port === '' && (port === standard || isUpgrade));
}

/** A path that ends with a slash matches all paths below it. */
function hasPath({ pathname }: URL, path: string): boolean {
  const lower = pathname.toLowerCase();
  return path.endsWith('/') ? lower.startsWith(path) : lower === path;
}
