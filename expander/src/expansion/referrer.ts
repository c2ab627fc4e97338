/** How much of a page's URL the next website may learn (W3C, Referrer Policy). */
export type ReferrerPolicy = (typeof policies)[number];

const policies = [
  'no-referrer',
  'no-referrer-when-downgrade',
  'same-origin',
  'origin',
  'strict-origin',
  'origin-when-cross-origin',
  'strict-origin-when-cross-origin',
  'unsafe-url',
] as const;

const standard = 'strict-origin-when-cross-origin' satisfies ReferrerPolicy;

const isPolicy = (text: string): text is ReferrerPolicy => (policies as readonly string[]).includes(text);

/** Older names in `<meta name="referrer">` (HTML standard). */
const olderNames: Record<string, ReferrerPolicy> = {
  never: 'no-referrer',
  default: standard,
  always: 'unsafe-url',
  'origin-when-crossorigin': 'origin-when-cross-origin',
};

/** Parses a `Referrer-Policy` header. @returns the last policy that is known, or null. */
export function readReferrerPolicy(field: string): ReferrerPolicy | null {
  const names = field.split(',').map((name) => name.trim().toLowerCase());
  return names.findLast(isPolicy) ?? null;
}

/** Parses the content of `<meta name="referrer">`. @returns null if it is not a policy. */
export function readMetaReferrer(content: string): ReferrerPolicy | null {
  const name = content.trim().toLowerCase();
  return isPolicy(name) ? name : (olderNames[name] ?? null);
}

/** Maximum characters of a referrer. Of a longer one, browsers send the origin (W3C, Referrer Policy, section 8.3). */
const maxReferrer = 4_096;

/** Returns the `Referer` header for a request that comes from `page`; an empty string for none. */
function refererOf(page: URL, target: URL, policy: ReferrerPolicy = standard): string {
  const origin = `${page.origin}/`;
  const url = page.origin + page.pathname + page.search;
  const whole = url.length > maxReferrer ? origin : url;
  const isSame = page.origin === target.origin;
  const isDowngrade = page.protocol === 'https:' && target.protocol === 'http:';
  const strictOrigin = isDowngrade ? '' : origin;
  const referers: Record<ReferrerPolicy, string> = {
    'no-referrer': '',
    'no-referrer-when-downgrade': isDowngrade ? '' : whole,
    'same-origin': isSame ? whole : '',
    origin,
    'strict-origin': strictOrigin,
    'origin-when-cross-origin': isSame ? whole : origin,
    [standard]: isSame ? whole : strictOrigin,
    'unsafe-url': whole,
  };
  return referers[policy];
}

/** Follows the `Referer` through a navigation: a refresh starts one, and redirects may only shorten it. */
export function navigationReferrer() {
  let referrer: URL | null = null;
  let policy: ReferrerPolicy = standard;
  return {
    /** Starts a navigation by a refresh of `page`. */
    start(page: URL, pagePolicy: ReferrerPolicy = standard) {
      referrer = page;
      policy = pagePolicy;
    },
    /** Applies the policy of a redirect. */
    redirect(next: ReferrerPolicy | undefined) {
      policy = next ?? policy;
    },
    /** Returns the header for a request; an empty string for none. */
    headerFor(target: URL): string {
      const referer = referrer ? refererOf(referrer, target, policy) : '';
      referrer = referer === '' ? null : new URL(referer);
      return referer;
    },
  };
}
