import { isWeb, parseUrl } from './target.ts';

interface Wrapper {
  name: string;
  host: { test(hostname: string): boolean };
  /** Extracts the target from a wrapper URL. */
  unwrap: (url: URL) => string | null | undefined;
}

/** Google's domains (https://www.google.com/supported_domains), grouped by the label after `google.`. */
const googleDomains = new Set(
  [
    [
      '',
      `ad ae al am as at az ba be bf bg bi bj bs bt by ca cat cd cf cg ch ci cl cm cn com cv cz de dj
      dk dm dz ee es fi fm fr ga ge gg gl gm gr gy hn hr ht hu ie im iq is it je jo kg ki kz la li lk
      lt lu lv md me mg mk ml mn mu mv mw ne nl no nr nu pl pn ps pt ro rs ru rw sc se sh si sk sm sn
      so sr st td tg tl tm tn to tt vu ws`,
    ],
    [
      'com.',
      `af ag ai ar au bd bh bn bo br bz co cu cy do ec eg et fj gh gi gt hk jm kh kw lb ly mm mt mx my na
      ng ni np om pa pe pg ph pk pr py qa sa sb sg sl sv tj tr tw ua uy vc vn`,
    ],
    ['co.', `ao bw ck cr id il in jp ke kr ls ma mz nz th tz ug uk uz ve vi za zm zw`],
  ].flatMap(([second, ends = '']) => ends.split(/\s+/).map((end) => `google.${second}${end}`)),
);

/**
 * Services that wrap links in their own URLs. Sources:
 *
 * - Safe Links: https://learn.microsoft.com/defender-office-365/safe-links-about
 * - URL Defense: https://help.proofpoint.com/Threat_Insight_Dashboard/API_Documentation/URL_Decoder_API, and the Python
 *   decoder that it links to
 * - Facebook's link shim: https://engineering.fb.com/2012/02/01/security/link-shim-protecting-the-people-who-use-facebook-from-malicious-urls/
 * - Google's redirector is undocumented; links in its search results, mail and documents use `q` and `url`.
 */
const wrappers: readonly Wrapper[] = [
  {
    name: 'Outlook Safe Links',
    host: /(?:^|\.)safelinks\.protection\.(?:outlook\.com|office365\.us)$/,
    // A URL that was copied from HTML has `&amp;` for `&`.
    unwrap: ({ searchParams }) => searchParams.get('url') ?? searchParams.get('amp;url'),
  },
  {
    name: 'Teams Safe Links',
    host: /^statics\.teams\.cdn\.office\.net$/,
    unwrap: ({ pathname, searchParams }) =>
      pathname.startsWith('/evergreen-assets/safelinks/') ? searchParams.get('url') : null,
  },
  { name: 'Proofpoint URL Defense', host: /^urldefense\.(?:proofpoint\.com|com|us)$/, unwrap: proofpoint },
  {
    name: 'Google',
    host: { test: (hostname) => googleDomains.has(hostname.replace(/^www\./, '')) },
    unwrap: ({ pathname, searchParams }) =>
      pathname === '/url' ? searchParams.get('url') || searchParams.get('q') : null,
  },
  {
    name: 'Facebook',
    host: /^(?:lm?|www|m)\.(?:facebook|messenger)\.com$/,
    unwrap: ({ pathname, searchParams }) => (pathname === '/l.php' ? searchParams.get('u') : null),
  },
  { name: 'Instagram', host: /^l\.instagram\.com$/, unwrap: ({ searchParams }) => searchParams.get('u') },
  { name: 'Threads', host: /^l\.threads\.(?:com|net)$/, unwrap: ({ searchParams }) => searchParams.get('u') },
];

/** Returns the target and the service's name if `url` is a wrapper, otherwise null. */
export function unwrap(url: URL): { target: string; wrapper: string } | null {
  const wrapper = wrappers.find(({ host }) => host.test(url.hostname));
  const target = wrapper?.unwrap(url);
  const parsed = target ? parseUrl(target) : null;
  return wrapper && target && parsed && isWeb(parsed) ? { target, wrapper: wrapper.name } : null;
}

/** Extracts the target from any of Proofpoint's three URL formats. */
function proofpoint(url: URL): string | null | undefined {
  const [, version] = /^\/(v[123])\//.exec(url.pathname) ?? [];
  if (version === 'v1') return withoutEntities(url.searchParams.get('u'));
  // Version 2 uses percent-encoding, but with "-" for "%" and "_" for "/".
  if (version === 'v2') {
    const encoded = url.searchParams.get('u')?.replaceAll('-', '%').replaceAll('_', '/');
    return encoded && withoutEntities(decodedComponent(encoded));
  }
  return version === 'v3' ? proofpointV3(url.href) : null;
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** Replaces the entities in a URL, because versions 1 and 2 take it from HTML. */
function withoutEntities(url: string | null): string | null {
  return url?.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name] ?? '') ?? null;
}

/** Characters that encode the run lengths 2, 3, and so on. */
const runLengths = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/**
 * Version 3 contains the URL as text between `__` and `__;`. There, `*` replaces one character, and `**` plus a letter replaces
 * a run of characters. After `__;`, the URL contains the replaced characters in base64url.
 */
function proofpointV3(href: string): string | null {
  const [, wrapped, replaced = ''] = /^[^/]+\/\/[^/]+\/v3\/__(.+?)__;([\w-]*)/.exec(href) ?? [];
  const encoded = wrapped && decodedComponent(wrapped);
  if (!encoded) return null;
  const characters = [...Buffer.from(replaced, 'base64url').toString()];
  let used = 0;
  // Some mail software drops a slash from "https://".
  return encoded.replace(/^([a-z]+:\/)(?!\/)/i, '$1/').replace(/\*(?:\*([\w-]))?/g, (_, run?: string) => {
    const from = used;
    used += run === undefined ? 1 : runLengths.indexOf(run) + 2;
    return characters.slice(from, used).join('');
  });
}

/** @returns null if the text is not percent-encoded UTF-8. */
function decodedComponent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
