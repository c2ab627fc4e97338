/** The verdicts and their colours. */
export const tones = {
  'Page found': 'plain',
  File: 'plain',
  'Opens an app': 'grey',
  'Broken link': 'grey',
  'Contents unknown': 'amber',
  'Not checked to the end': 'amber',
  'Anyone can publish here': 'amber',
  'Not encrypted': 'amber',
  'Blocked our check': 'grey',
  'Not working right now': 'grey',
  'Certificate problem': 'amber',
  Beware: 'red',
} as const;

export type Verdict = keyof typeof tones;

/** Stable codes for programs: what to beware of, although the link leads somewhere. */
export const warnings = ['imitates', 'subdomain', 'program', 'anyone', 'script', 'unencrypted'] as const;
export type Warning = (typeof warnings)[number];

/**
 * The text for one kind of result. `SITE` stands for the last site of the chain, `NAME` for the name that it imitates, `HOME` for
 * the host of that name, `WHAT` for a file, `WHY` for its risk, `PROVIDER` for the owner of a place, `APP` for an app and what it
 * opens there, and `SECONDS` and `TARGET` for a refresh.
 */
export interface Ending {
  /** Null if the link was not checked. */
  verdict: Verdict | null;
  headline: string;
  warning?: Warning;
  /** Defaults to the status of the last page if it is an error, or to the error message. */
  sentence?: string;
  advice?: string;
  /** Explains why the last URL of the chain has no response. Defaults to the error message. */
  stop?: string;
  /** Whether the page links to the last URL. The verdict decides how the link is labelled. */
  isLinked?: true;
  /** "Try again" repeats the check. "Continue" checks the last URL. */
  next?: 'Try again' | 'Continue';
  /** Whether the page's title, if any, replaces the headline. */
  isTitled?: true;
}

/** Returns the label of the link to the last URL, which agrees with the verdict: only an ordinary page or app is simply opened. */
export function openLabel({ verdict, warning, isLinked }: Ending): string | null {
  if (!isLinked || !verdict) return null;
  if (warning === 'program') return 'Download anyway';
  if (tones[verdict] === 'plain' || verdict === 'Opens an app') return 'Open it';
  return tones[verdict] === 'grey' ? 'Try it anyway' : 'Open anyway';
}

const found = {
  verdict: 'Page found',
  headline: 'It leads to SITE',
  isLinked: true,
  isTitled: true,
} as const satisfies Ending;
const brokenPage = { verdict: 'Broken link', isLinked: true } as const;
const blocked = {
  verdict: 'Blocked our check',
  headline: 'SITE blocked our check',
  advice: 'It may still open for you.',
  isLinked: true,
} as const satisfies Ending;
const notWorking = { verdict: 'Not working right now', isLinked: true, next: 'Try again' } as const;
const anyone = {
  verdict: 'Anyone can publish here',
  warning: 'anyone',
  isLinked: true,
} as const satisfies Partial<Ending>;
const file = { headline: 'It leads to WHAT at SITE', isLinked: true } as const;
const notUrl = { verdict: null, headline: 'This is not a URL' };

export const endings = {
  found,
  direct: { ...found, headline: 'It leads directly to SITE' },
  sends_on: {
    verdict: 'Not checked to the end',
    warning: 'script',
    headline: 'A script may redirect you from SITE',
    advice:
      'Many ordinary websites need scripts to show a page. This check runs none, so open it only if you know SITE.',
    isLinked: true,
  },
  known_script: { ...found, warning: 'script', advice: 'A script may redirect you from SITE.' },
  partly: { ...found, advice: 'Only the first part of the page was checked for redirects.' },
  cut: {
    ...found,
    verdict: 'Not checked to the end',
    advice: 'Only part of the page could be read, so a redirect in it may be missing.',
    next: 'Try again',
  },
  later: { ...found, advice: 'After SECONDS seconds, the page opens TARGET.' },
  document: { ...file, verdict: 'File' },
  file: {
    ...file,
    verdict: 'Contents unknown',
    advice: 'It can contain anything, even programs. Open it only if you expect it.',
  },
  nothing: { ...brokenPage, headline: 'The page is empty at SITE' },
  unread: {
    ...notWorking,
    headline: 'The page could not be read from SITE',
    sentence: 'The website started its response but did not send the page.',
  },
  gone: { ...brokenPage, headline: 'No such page at SITE', next: 'Try again' },
  rejected: { ...brokenPage, headline: 'SITE rejected the request' },
  blocked,
  too_often: { ...blocked, next: 'Try again' },
  down: { ...notWorking, headline: 'SITE is not working right now' },

  max_redirects: {
    verdict: 'Broken link',
    headline: 'Too many redirects: the check stopped at SITE',
    sentence: 'This link redirects again and again. “Continue” follows the next redirects.',
    stop: 'Not visited, because of the redirect limit.',
    isLinked: true,
    next: 'Continue',
  },
  loop: {
    verdict: 'Broken link',
    headline: 'The redirects form a loop at SITE',
    sentence: 'A redirect leads back to an earlier URL, so no page can be reached.',
    stop: 'Visited before: the loop starts again here.',
  },
  no_location: {
    verdict: 'Broken link',
    headline: 'The link is broken at SITE',
    sentence: 'The website redirects visitors, but does not say where to.',
    isLinked: true,
  },
  malformed_location: {
    verdict: 'Broken link',
    headline: 'The link is broken',
    sentence: 'The website redirects visitors to something that is not an address.',
    stop: 'Not a URL.',
  },
  app: {
    verdict: 'Opens an app',
    headline: 'It opens APP',
    stop: 'Not a web page, so it was not visited.',
    isLinked: true,
  },
  not_web: {
    verdict: 'Beware',
    headline: 'It does not lead to a web page',
    sentence: 'Only links to web pages are followed.',
    advice: 'Opening it may run code or start a program.',
    stop: 'Not a web page, so it was not visited.',
  },

  imitates: {
    verdict: 'Beware',
    warning: 'imitates',
    headline: 'This is not NAME. It leads to a look-alike: SITE',
    advice: 'If you want NAME, type HOME yourself.',
  },
  mixes: { verdict: 'Beware', warning: 'imitates', headline: 'It mixes letters of several alphabets: SITE' },
  subdomain: {
    verdict: 'Beware',
    warning: 'subdomain',
    headline: 'This is not NAME. It leads to SITE',
    advice:
      'The owner of SITE can write anything in front of it, even “HOME”. If you want NAME, type HOME yourself.',
  },
  program: {
    verdict: 'Beware',
    warning: 'program',
    headline: 'It downloads WHAT from SITE',
    advice: 'WHY',
    isLinked: true,
  },
  posing: {
    verdict: 'Beware',
    warning: 'imitates',
    headline: 'This is not NAME. It leads to a page at SITE',
    advice:
      'PROVIDER only provides the space, and anyone can publish there. If you want NAME, type HOME yourself.',
    isLinked: true,
  },
  anyone: {
    ...anyone,
    headline: 'It leads to a page that somebody made at SITE',
    advice: 'PROVIDER only provides the space. Never type a password into such a page.',
  },
  anyone_file: {
    ...anyone,
    headline: 'It leads to a file that somebody put at SITE',
    advice: 'PROVIDER only provides the space. Open it only if you expect this file.',
  },

  request_failed: { ...notWorking, headline: 'SITE could not be reached' },
  timeout: { ...notWorking, headline: 'SITE did not respond in time', advice: 'The website may be busy.' },
  certificate: {
    ...notWorking,
    verdict: 'Certificate problem',
    headline: 'The certificate does not prove that this is SITE',
    advice: 'Somebody else may have answered. Type no password there.',
  },
  incomplete_chain: {
    ...notWorking,
    verdict: 'Certificate problem',
    headline: 'The certificate chain is incomplete at SITE',
    advice: 'The page could not be read, so a redirect in it may be missing.',
  },
  unknown_name: {
    verdict: 'Broken link',
    headline: 'SITE could not be found',
    advice: 'The name may be misspelled, or the website may be gone.',
    next: 'Try again',
  },

  target_refused: { verdict: 'Beware', headline: 'We do not follow links to SITE' },
  port: { verdict: 'Beware', headline: 'It leads to a blocked port: SITE' },
  private_address: {
    verdict: 'Beware',
    headline: 'It leads to a private network: SITE',
    advice: 'Only links to public websites are followed.',
  },
  credentials: {
    verdict: 'Beware',
    headline: 'It disguises its destination: SITE',
    sentence: 'The text before the @ is not the website. The website is SITE.',
  },

  empty: { verdict: null, headline: 'Paste a short URL' },
  not_a_url: {
    ...notUrl,
    sentence: 'A short URL looks like example.com/abc, with or without http:// in front.',
  },
  too_long: { verdict: null, headline: 'This URL is too long' },
  invalid_url: notUrl,
  invalid_callback: { verdict: null, headline: 'This could not be expanded' },
  invalid_argument: { verdict: null, headline: 'This could not be expanded' },
  unsupported_scheme: { verdict: null, headline: 'This is not a web address' },
  overloaded: { verdict: null, headline: 'The server is busy', next: 'Try again' },
  rate_limited: { verdict: null, headline: 'Too many links at once', next: 'Try again' },
  unknown_key: { verdict: null, headline: 'Unknown key' },
  aborted: { verdict: null, headline: 'Stopped' },
} satisfies Record<string, Ending>;

export type Kind = keyof typeof endings;
