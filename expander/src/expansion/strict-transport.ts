import { isIP } from 'node:net';

/** The scope of a `Strict-Transport-Security` policy. `none` removes the policy. */
export type StrictTransport = 'host' | 'subdomains' | 'none';

const directive = /^[\t ]*([\w!#$%&'*+.^`|~-]+)[\t ]*(?:=[\t ]*(?:"([^"]*)"|([\w!#$%&'*+.^`|~-]+))[\t ]*)?$/;

/** Parses a `Strict-Transport-Security` header (RFC 6797 section 6.1). @returns null if the header is malformed. */
export function readStrictTransport(field: string): StrictTransport | null {
  const directives = new Map<string, string | undefined>();
  for (const part of field.split(';')) {
    if (part.trim() === '') continue;
    const [, name = '', quoted, plain] = directive.exec(part) ?? [];
    if (name === '' || directives.has(name.toLowerCase())) return null;
    directives.set(name.toLowerCase(), quoted ?? plain);
  }
  const maxAge = directives.get('max-age') ?? '';
  if (!/^\d+$/.test(maxAge) || directives.get('includesubdomains') !== undefined) return null;
  if (Number(maxAge) === 0) return 'none';
  return directives.has('includesubdomains') ? 'subdomains' : 'host';
}

/**
 * Top-level domains in Chromium's HSTS preload list (net/http/transport_security_state_static.json, 2025-01-01), all with
 * `include_subdomains`. The whole list has 150,000 hosts and 2.6 MB.
 */
const preloaded = new Set(
  `amazon android app audible azure bank bing boo channel chrome dad day dev eat esq fire fly foo fujitsu gle gmail
  google hangout hotmail imdb ing insurance kindle meet meme microsoft mov new nexus office page phd play prime prof
  rsvp search silk skype windows xbox xn--cckwcxetd xn--jlq480n2rg youtube zappos zip`.split(/\s+/),
);

/** Creates the list of HSTS hosts of one chain. */
export function strictHosts() {
  const hosts = new Map<string, StrictTransport>();
  return {
    /** Stores the HSTS policy of a response to `url`. */
    keep(strictTransport: StrictTransport, { protocol, hostname }: URL) {
      if (protocol === 'https:' && isIP(hostname) === 0 && !hostname.startsWith('['))
        hosts.set(hostname.replace(/\.$/, ''), strictTransport);
    },
    /** Returns `url` with https if the host requires https, otherwise null. Keeps an explicit port (RFC 6797 section 8.3). */
    upgraded(url: URL): URL | null {
      if (url.protocol !== 'http:') return null;
      const labels = url.hostname.replace(/\.$/, '').split('.');
      const isPreloaded = preloaded.has(labels.at(-1) ?? '');
      const isStrict = labels.some((_, at) => {
        const found = hosts.get(labels.slice(at).join('.'));
        return found === 'subdomains' || (found === 'host' && at === 0);
      });
      return isStrict || isPreloaded ? new URL(url.href.replace(/^http:/, 'https:')) : null;
    },
  };
}
