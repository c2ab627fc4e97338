import { domainToUnicode } from 'node:url';
import { getDomain, getPublicSuffix, parse } from 'tldts';

/** How a host looks to users, and which other host it resembles. */
export interface UnicodeHost {
  /** The host in Unicode; null unless it is in Punycode. */
  unicodeHost: string | null;
  /** The scripts in a label if no language combines them, such as Cyrillic and Latin. */
  mixedScripts: string[];
  /** The Latin host that this host resembles; null unless all letters of a label look Latin. */
  imitates: string | null;
}

/** The scripts in wide use today (Unicode Standard Annex #31, table 5). */
const scripts = [
  ...['Arabic', 'Armenian', 'Bengali', 'Bopomofo', 'Cyrillic', 'Devanagari', 'Ethiopic', 'Georgian', 'Greek'],
  ...['Gujarati', 'Gurmukhi', 'Han', 'Hangul', 'Hebrew', 'Hiragana', 'Kannada', 'Katakana', 'Khmer', 'Lao'],
  ...['Latin', 'Malayalam', 'Myanmar', 'Oriya', 'Sinhala', 'Tamil', 'Telugu', 'Thaana', 'Thai', 'Tibetan'],
];

/** Sets of scripts that a language mixes (UTS #39, "Highly Restrictive"). */
const writtenTogether = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
];

/** Compiled lazily, because compiling takes 10 ms. */
let patterns: ReturnType<typeof makePatterns> | undefined;

const makePatterns = () => ({
  unmixed: [...scripts.map((script) => [script]), ...writtenTogether].map(
    (set) => new RegExp(`^${anyOf('Script_Extensions', ['Common', 'Inherited', ...set])}*$`, 'u'),
  ),
  /** Finds the scripts of a label. `Other` is any script that is not in `scripts`. */
  letters: new Map([
    ...scripts.map((script) => [script, new RegExp(anyOf('Script', [script]), 'u')] as const),
    ['Other', new RegExp(anyOf('Script', ['Common', 'Inherited', ...scripts]).replace('[', '[^'), 'u')],
  ]),
});

/** Converts a Punycode host to Unicode and checks whether it looks deceptive. */
export function describeHost({ hostname }: URL): UnicodeHost {
  const unicode = hostname.includes('xn--') ? domainToUnicode(hostname) : hostname;
  // Node returns invalid Punycode unchanged.
  if (unicode === hostname) return { unicodeHost: null, mixedScripts: [], imitates: null };
  const mixed = unicode.split('.').map(mixedScripts);
  const imitates = imitatedHost(unicode);
  return { unicodeHost: unicode, mixedScripts: [...new Set(mixed.flat())].sort(), imitates };
}

function mixedScripts(label: string): string[] {
  patterns ??= makePatterns();
  const { unmixed, letters } = patterns;
  if (unmixed.some((set) => set.test(label))) return [];
  const found = [...letters.keys()].filter((script) => letters.get(script)?.test(label));
  return found.length > 1 ? found : [];
}

function anyOf(property: 'Script' | 'Script_Extensions', names: readonly string[]): string {
  return `[${names.map((name) => `\\p{${property}=${name}}`).join('')}]`;
}

/**
 * Pairs of a letter and its Latin lookalike, from Unicode 17.0's security/confusables.txt (UTS #39). IDNA allows all these
 * letters in a host.
 */
const lookalikes = [
  'аa сc ԁd еe ҽe һh іi ꙇi јj ӏl оo рp ԛq гr ѕs ѵv ѡw шw ԝw хx уy үy',
  'αa ιi ϳj οo σo ρp ϸp ᴦr υu νv γy',
  'քf ցg հh ւi ոn ռn օo գq զq սu աw',
  'ⲥc ⲓi ⲟo ϭo ⲣp ⳏp ⲅr ⲽw ⲩy',
  'ჿo ყy',
].join(' ');
const latin = new Map(lookalikes.split(' ').map(([letter = '', look = '']) => [letter, look]));

/** The scripts of these letters, with the top-level domains of the countries that use each script. */
const homes: readonly [RegExp, readonly string[]][] = [
  // From Chromium (idn_spoof_checker.cc), plus more countries that use Cyrillic or Greek.
  [/\p{Script=Cyrillic}/u, ['bg', 'by', 'kg', 'kz', 'mk', 'mn', 'rs', 'ru', 'su', 'tj', 'ua', 'uz']],
  [/\p{Script=Greek}/u, ['cy', 'gr']],
  [/\p{Script=Armenian}/u, ['am']],
  [/\p{Script=Coptic}/u, []],
  [/\p{Script=Georgian}/u, ['ge']],
];

/**
 * Returns the Latin host that this host resembles, such as `apple.com` if all letters of a label are Cyrillic lookalikes. It
 * ignores labels in a script of the top-level domain's country. It also ignores hosts under top-level domains such as `.рф`,
 * which do not allow Latin names.
 *
 * @param own matches characters that are the same in both hosts.
 * @returns null unless a label consists of lookalikes and `own` characters.
 */
export function imitatedHost(unicodeHost: string, own = /[0-9-]/): string | null {
  const [, names = '', domain = ''] = /^(?:(.*)\.)?([^.]+\.?)$/.exec(unicodeHost) ?? [];
  if (homes.some(([script]) => script.test(domain))) return null;
  const isAtHome = (label: string) =>
    !/[a-z]/.test(label) &&
    homes.some(([script, domains]) => script.test(label) && domains.includes(domain.replace('.', '')));
  const labels = names.split('.');
  const imitated = labels.map((label) => (isAtHome(label) ? label : imitatedLabel(label, own))).join('.');
  return imitated === names ? null : `${imitated}.${domain}`;
}

function imitatedLabel(label: string, own: RegExp): string {
  const looks = Array.from(label, (character) => (own.test(character) ? character : latin.get(character)));
  // Registries do not allow a hyphen at the start or end of a name.
  return looks.includes(undefined) || /^-|-$/.test(label) ? label : looks.join('');
}

/**
 * Matches a Latin letter in the alphabet of a European language. Letters such as `ı` or `ɡ` look like ASCII letters, and a dot
 * below a letter disappears in the underline of a link.
 */
const european = /[a-zß-\u0130\u0132-\u0137\u0139-\u013e\u0141-\u0148\u014a-\u017e\u0219\u021b]/;
const isForeign = (letter: string) => /\p{Script=Latin}/u.test(letter) && !european.test(letter);
/** Matches a name under `.vn` with Vietnamese letters. */
const vietnamese = /^[a-z0-9.\-à-ýăđĩũơưạ-ỹ]*\.vn$/u;

/**
 * Returns a Punycode host in Unicode if users can read it and it resembles no other host, such as `müller.de`. Returns null for
 * all other hosts, which are better shown in ASCII.
 */
export function readableHost(url: URL): string | null {
  const { unicodeHost, imitates } = describeHost(url);
  if (unicodeHost === null || imitates || imitatedHost(unicodeHost, /[0-9a-z-]/)) return null;
  patterns ??= makePatterns();
  const { unmixed } = patterns;
  const isWritten = unicodeHost.split('.').every((label) => unmixed.some((set) => set.test(label)));
  return isWritten && (![...unicodeHost].some(isForeign) || vietnamese.test(unicodeHost))
    ? unicodeHost
    : null;
}

/** Whether a host has an ICANN public suffix, so that text such as `bit.ly/x` is probably a link. */
export function hasKnownSuffix({ hostname }: URL): boolean {
  return parse(hostname, { extractHostname: false }).isIcann ?? false;
}

/** Whether two hosts have different registrable domains (Public Suffix List). An IP address is its own domain. */
export function isOtherDomain(a: URL, b: URL): boolean {
  return a.hostname !== b.hostname && registrableDomain(a) !== registrableDomain(b);
}

/** Returns the registrable domain of a host, such as `example.co.uk`, or the host itself if it has none. */
export function registrableDomain({ hostname }: Pick<URL, 'hostname'>): string {
  // Private suffixes such as github.io separate independent customers.
  return getDomain(hostname, { allowPrivateDomains: true, extractHostname: false }) ?? hostname;
}

/**
 * Finds the domain of another website at the start of a host, such as `paypal.com` in `www.paypal.com.login.example`. The
 * domain must end in com, net, org or a two-label suffix, because other suffixes are also ordinary words. A two-letter suffix
 * may also be a language code, so it is accepted only after `www.` and a name of at least three characters. Universities are
 * exempt, because the proxies of their libraries write the publisher's name in front of their own.
 */
export function nameInSubdomain(url: URL): string | null {
  if (
    /(?:^|\.)(?:edu|ac)(?:\.[a-z]{2})?$/.test(getPublicSuffix(url.hostname, { extractHostname: false }) ?? '')
  )
    return null;
  const labels = url.hostname.slice(0, -registrableDomain(url).length).split('.').slice(0, -1);
  const named = labels
    .map((_, at) => parse(labels.slice(0, labels.length - at).join('.'), { extractHostname: false }))
    .find(
      ({ isIcann, publicSuffix, hostname }) =>
        isIcann &&
        (/^(?:com|net|org)$|\./.test(`${publicSuffix}`) || /^www\.[^.]{3,}\.[a-z]{2}$/.test(`${hostname}`)),
    );
  const domain = named?.domain ?? null;
  return domain?.startsWith('www.') || domain === registrableDomain(url) ? null : domain;
}
