/** The verdicts and their colours. */
export const tones = {
  'Page found': 'plain',
  File: 'plain',
  'Opens an app': 'grey',
  'Broken link': 'grey',
  'Anyone can publish here': 'amber',
  'Not encrypted': 'amber',
  'Blocked our check': 'amber',
  'Not working right now': 'amber',
  'Certificate problem': 'amber',
  Beware: 'red',
} as const;

export type Verdict = keyof typeof tones;

/** Stable codes for programs: what to beware of, although the link leads somewhere. */
export const warnings = ['imitates', 'subdomain', 'program', 'anyone', 'script', 'unencrypted'] as const;
export type Warning = (typeof warnings)[number];

/**
 * The text for one kind of result. `SITE` stands for the last site of the chain, `NAME` for the name that it imitates, `WHAT` for
 * a program, `WHY` for its risk, `PROVIDER` for the owner of a place, `APP` for an app, and `SECONDS` and `TARGET` for a refresh.
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
  /** The label of the link to the last URL. */
  open?: 'Open it' | 'Open anyway' | 'Download anyway';
  /** "Try again" repeats the check. "Continue" checks the last URL. */
  next?: 'Try again' | 'Continue';
  /** Whether the page's title, if any, replaces the headline. */
  isTitled?: true;
  /** Whether visitors can copy a warning for others. */
  isShared?: true;
}

const found = {
  verdict: 'Page found',
  headline: 'It leads to SITE',
  open: 'Open it',
  isTitled: true,
} as const satisfies Ending;
const brokenPage = { verdict: 'Broken link', open: 'Open anyway' } as const;
const blocked = {
  verdict: 'Blocked our check',
  headline: 'SITE blocked our check',
  advice: 'It may still open for you.',
  open: 'Open anyway',
} as const satisfies Ending;
const notWorking = { verdict: 'Not working right now', open: 'Open anyway', next: 'Try again' } as const;
const beware = { verdict: 'Beware', isShared: true } as const;
const anyone = {
  verdict: 'Anyone can publish here',
  warning: 'anyone',
  open: 'Open anyway',
} as const satisfies Partial<Ending>;
const file = { verdict: 'File', headline: 'It leads to a file at SITE' } as const;
const notUrl = { verdict: null, headline: 'This is not a URL' };

export const endings = {
  found,
  direct: { ...found, headline: 'It leads directly to SITE' },
  sends_on: {
    verdict: 'Page found',
    warning: 'script',
    headline: 'A script may redirect you from SITE',
    advice: 'A script on the page may open another address. This check does not run scripts.',
    open: 'Open anyway',
  },
  partly: { ...found, advice: 'Only the first part of the page was checked for redirects.' },
  cut: {
    ...found,
    advice: 'Only part of the page could be read, so a redirect in it may be missing.',
    open: 'Open anyway',
    next: 'Try again',
  },
  later: { ...found, advice: 'After SECONDS seconds, the page opens TARGET.' },
  document: { ...file, open: 'Open it' },
  file: { ...file, advice: 'Open it only if you expect this file.', open: 'Open anyway' },
  nothing: { verdict: 'Page found', headline: 'The page is empty at SITE', open: 'Open anyway' },
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
    stop: 'Not visited, because of the redirect limit.',
    open: 'Open anyway',
    next: 'Continue',
  },
  loop: {
    verdict: 'Broken link',
    headline: 'The redirects form a loop at SITE',
    sentence: 'A redirect leads back to an earlier URL, so no page can be reached.',
    stop: 'Visited before: the loop starts again here.',
  },
  no_location: { verdict: 'Broken link', headline: 'The link is broken at SITE', open: 'Open anyway' },
  malformed_location: { verdict: 'Broken link', headline: 'The link is broken', stop: 'Not a URL.' },
  app: {
    verdict: 'Opens an app',
    headline: 'It opens APP',
    stop: 'Not a web page, so it was not visited.',
    open: 'Open it',
  },
  not_web: {
    verdict: 'Beware',
    headline: 'It does not lead to a web page',
    sentence: 'Only links to web pages are followed.',
    advice: 'Opening it may run code or start a program.',
    stop: 'Not a web page, so it was not visited.',
  },

  imitates: {
    ...beware,
    warning: 'imitates',
    headline: 'SITE can be mistaken for NAME',
    advice: 'If you want NAME, type NAME yourself.',
  },
  mixes: { ...beware, warning: 'imitates', headline: 'SITE mixes alphabets' },
  subdomain: {
    ...beware,
    warning: 'subdomain',
    headline: 'This is not NAME. It leads to SITE',
    advice:
      'The owner of SITE can write anything in front of it, even “NAME”. If you want NAME, type NAME yourself.',
  },
  program: {
    verdict: 'Beware',
    warning: 'program',
    headline: 'It downloads WHAT from SITE',
    advice: 'WHY',
    open: 'Download anyway',
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
  },
  incomplete_chain: {
    ...notWorking,
    verdict: 'Certificate problem',
    headline: 'The certificate chain is incomplete at SITE',
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
