import ip from 'ipaddr.js';

/** Only load tests read `EXPANDER_URL`. */
export const ownNames = { prefix: 'EXPANDER_', others: ['EXPANDER_URL'] };

/** An environment variable that configures the service or the CLI. */
export interface Variable<Value> {
  /** The default, as text. */
  fallback: string;
  /** @returns undefined if the text is invalid. */
  read(text: string): Value | undefined;
  fault: string;
}

const maxRedirects = 20;

export const variables = {
  /** Networks that are exempt from the public-address guard, for development and tests. */
  EXPANDER_ALLOWED_NETWORKS: {
    fallback: '',
    read(text: string) {
      const networks = text.split(/[\s,]+/).filter(Boolean);
      return networks.every(ip.isValidCIDR) ? networks : undefined;
    },
    fault: 'is not a list of networks such as 127.0.0.0/8,::1/128',
  },
  /** Maximum redirects; the initial value of `expand.maxRedirect`. */
  EXPANDER_MAX_REDIRECT: {
    fallback: '5',
    read: (text: string) =>
      /^\d{1,2}$/.test(text) && Number(text) <= maxRedirects ? Number(text) : undefined,
    fault: `is not a whole number from 0 to ${maxRedirects}`,
  },
  /** The `User-Agent` header. Some websites reject requests without this header. */
  EXPANDER_USER_AGENT: {
    fallback: 'Longhand/0.1 (short URL expander)',
    read: (text: string) => (/^[\x20-\x7e]{1,256}$/.test(text) ? text : undefined),
    fault: 'is not 1 to 256 printable ASCII characters',
  },
} satisfies Record<string, Variable<unknown>>;
