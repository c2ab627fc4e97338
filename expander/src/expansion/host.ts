import { domainToUnicode } from 'node:url';
import { getDomain, parse } from 'tldts';

/** What a host looks like to a reader, who may take it for another one. */
export interface UnicodeHost {
  /** The host in Unicode, if it is written in Punycode. */
  unicodeHost: string | null;
  /** Scripts that a label of the host mixes and no language does, such as Cyrillic and Latin. */
  mixedScripts: string[];
  /** The host in Latin letters that all letters of a label imitate. */
  imitates: string | null;
}

/** The scripts in wide use today (Unicode Standard Annex #31, table 5). */
const scripts = [
  ...['Arabic', 'Armenian', 'Bengali', 'Bopomofo', 'Cyrillic', 'Devanagari', 'Ethiopic', 'Georgian', 'Greek'],
  ...['Gujarati', 'Gurmukhi', 'Han', 'Hangul', 'Hebrew', 'Hiragana', 'Kannada', 'Katakana', 'Khmer', 'Lao'],
  ...['Latin', 'Malayalam', 'Myanmar', 'Oriya', 'Sinhala', 'Tamil', 'Telugu', 'Thaana', 'Thai', 'Tibetan'],
];

/** Scripts that are written together, in one language (UTS #39, "Highly Restrictive"). */
const writtenTogether = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
];

/** Compiled at the first host in Punycode: that takes 10 ms, and most hosts are not in Punycode. */
let patterns: ReturnType<typeof makePatterns> | undefined;

const makePatterns = () => ({
  unmixed: [...scripts.map((script) => [script]), ...writtenTogether].map(
    (set) => new RegExp(`^${anyOf('Script_Extensions', ['Common', 'Inherited', ...set])}*$`, 'u'),
  ),
  /** What makes a script show in a label: one of its own letters, and for all scripts that are not in the table one name. */
  letters: new Map([
    ...scripts.map((script) => [script, new RegExp(anyOf('Script', [script]), 'u')] as const),
    ['Other', new RegExp(anyOf('Script', ['Common', 'Inherited', ...scripts]).replace('[', '[^'), 'u')],
  ]),
});

export function describeHost({ hostname }: URL): UnicodeHost {
  const unicode = hostname.includes('xn--') ? domainToUnicode(hostname) : hostname;
  // Invalid Punycode stays as it is.
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
 * Letters, each before the Latin one that it looks like. From Unicode 17.0, security/confusables.txt (UTS #39): the
 * letters of these scripts that IDNA allows in a host, and whose prototype is that of a letter from a to z.
 */
const lookalikes = [
  'аa сc ԁd еe ҽe һh іi ꙇi јj ӏl оo рp ԛq гr ѕs ѵv ѡw шw ԝw хx уy үy',
  'αa ιi ϳj οo σo ρp ϸp ᴦr υu νv γy',
  'քf ցg հh ւi ոn ռn օo գq զq սu աw',
  'ⲥc ⲓi ⲟo ϭo ⲣp ⳏp ⲅr ⲽw ⲩy',
  'ჿo ყy',
].join(' ');
const latin = new Map(lookalikes.split(' ').map(([letter = '', look = '']) => [letter, look]));

/** The scripts of these letters, with the country domains in whose languages names are written in them. */
const homes: readonly [RegExp, readonly string[]][] = [
  // Those of Chromium (idn_spoof_checker.cc), and other countries that write Cyrillic or Greek.
  [/\p{Script=Cyrillic}/u, ['bg', 'by', 'kg', 'kz', 'mk', 'mn', 'rs', 'ru', 'su', 'tj', 'ua', 'uz']],
  [/\p{Script=Greek}/u, ['cy', 'gr']],
  [/\p{Script=Armenian}/u, ['am']],
  [/\p{Script=Coptic}/u, []],
  [/\p{Script=Georgian}/u, ['ge']],
];

/**
 * What the reader of a host in Unicode may take it for: `apple.com` for one whose Cyrillic letters all imitate Latin ones.
 * In a script's home domains, names in that script are ordinary. Top-level domains in one of these scripts have no Latin names.
 *
 * @param own characters that may stand for themselves.
 * @returns null if no label beyond ASCII consists of such letters and `own` only.
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
  // No registry gives away a name with a hyphen at one of its ends.
  return looks.includes(undefined) || /^-|-$/.test(label) ? label : looks.join('');
}

/** Whether a host has a public suffix of ICANN's: then text without a scheme, such as `bit.ly/x`, is a link. */
export function hasKnownSuffix({ hostname }: URL): boolean {
  return parse(hostname, { extractHostname: false }).isIcann ?? false;
}

/** Whether two hosts belong to different registrable domains by the Public Suffix List; an address is one of its own. */
export function isOtherDomain(a: URL, b: URL): boolean {
  return a.hostname !== b.hostname && registrableDomain(a) !== registrableDomain(b);
}

/** The registrable domain of a host, such as `example.co.uk`; the host itself if it has none. */
export function registrableDomain({ hostname }: URL): string {
  // Customers of a host such as github.io are not one party.
  return getDomain(hostname, { allowPrivateDomains: true, extractHostname: false }) ?? hostname;
}

/**
 * The registrable domain that a host begins with, such as `paypal.com` in `www.paypal.com.login.example`. Only suffixes
 * that are not ordinary words count: com, net, org, and those of two labels, such as `co.uk`.
 */
export function nameInSubdomain(url: URL): string | null {
  const labels = url.hostname.slice(0, -registrableDomain(url).length).split('.').slice(0, -1);
  const named = labels
    .map((_, at) => parse(labels.slice(0, labels.length - at).join('.'), { extractHostname: false }))
    .find(({ isIcann, publicSuffix }) => isIcann && /^(?:com|net|org)$|\./.test(publicSuffix ?? ''));
  const domain = named?.domain ?? null;
  return domain?.startsWith('www.') || domain === registrableDomain(url) ? null : domain;
}
