import type { Expansion, Hop } from '../expansion/expansion.ts';
import { imitatedHost, type UnicodeHost } from '../expansion/host.ts';
import { list } from './wording.ts';

/** The verdicts and their colours. */
export const tones = {
  'Page found': 'plain',
  File: 'plain',
  'Opens an app': 'grey',
  'Broken link': 'grey',
  'Not encrypted': 'amber',
  'Blocked our check': 'amber',
  'Not working right now': 'amber',
  'Certificate problem': 'amber',
  Beware: 'red',
} as const;

/** The page's text for one kind of result. */
export interface Ending {
  /** Null if the link was not checked. */
  verdict: keyof typeof tones | null;
  /** `SITE` stands for the last site of the chain. */
  headline: string;
  /** Defaults to the status of the last page, or to the error message. */
  sentence?: string;
  advice?: string | ((url: URL) => string);
  /** Explains why the last URL of the chain has no response. Defaults to the error message. */
  stop?: string;
  /** The label of the link to the last URL. */
  open?: 'Open it' | 'Open anyway';
  /** "Try again" repeats the check. "Continue" checks the last URL. */
  next?: 'Try again' | 'Continue';
}

const found = { verdict: 'Page found', headline: 'It leads to SITE', open: 'Open it' } as const;
const brokenPage = { verdict: 'Broken link', open: 'Open anyway' } as const;
const blocked = {
  verdict: 'Blocked our check',
  headline: 'SITE blocked our check',
  advice: 'It may still open for you.',
  open: 'Open anyway',
} as const satisfies Ending;
const notWorking = { verdict: 'Not working right now', open: 'Open anyway', next: 'Try again' } as const;
const notWeb = {
  headline: 'It does not lead to a web page',
  sentence: 'Only links to web pages are followed.',
  stop: 'Not a web page, so it was not visited.',
};
const notUrl = { verdict: null, headline: 'This is not a URL' };

const endings = {
  found,
  direct: { ...found, headline: 'It leads directly to SITE' },
  sends_on: {
    verdict: 'Page found',
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
  file: { verdict: 'File', headline: 'It leads to a file at SITE', open: 'Open anyway' },
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
  app: { ...notWeb, verdict: 'Opens an app' },
  not_web: { ...notWeb, verdict: 'Beware', advice: 'Opening it may run code or start a program.' },

  request_failed: { ...notWorking, headline: 'SITE could not be reached' },
  timeout: { ...notWorking, headline: 'SITE did not respond in time', advice: 'The website may be busy.' },
  certificate: {
    ...notWorking,
    verdict: 'Certificate problem',
    headline: 'The certificate does not prove that this is SITE',
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
    advice: ({ host }) => `The text before the @ is not the website. The website is ${host}.`,
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

type Kind = keyof typeof endings;

/** Returns the page's text for an expansion that ends at `host`. */
export function endingOf(expansion: Expansion, host: UnicodeHost | null): Ending {
  const kind = kindOf(expansion);
  const ending: Ending = endings[kind === 'found' && expansion.redirectCount === 0 ? 'direct' : kind];
  const { verdict, open } = ending;
  const careful = open && ({ open: 'Open anyway' } as const);
  if (verdict && host && (host.imitates || host.mixedScripts.length > 0)) {
    const imitated = host.imitates ?? imitatedHost(host.unicodeHost ?? '', /[0-9a-z-]/);
    const headline = imitated ? `SITE can be mistaken for ${imitated}` : 'SITE mixes alphabets';
    return { ...ending, ...careful, verdict: 'Beware', headline };
  }
  if (verdict === 'Page found' && unencrypted(expansion)) {
    return { ...ending, ...careful, verdict: 'Not encrypted' };
  }
  return ending;
}

/**
 * Explains why a link is not encrypted: its last URL is http, or a hop redirects from https to http. Ignores redirects from
 * http to https, because people often omit the scheme.
 */
export function unencrypted({ hops, longUrl }: Expansion): string | null {
  const hosts = hops.filter(({ downgrade }) => downgrade).map(({ url }) => new URL(url).host);
  const risk = 'anyone on the path can read and alter the traffic.';
  if (hosts.length > 0)
    return `${list(hosts)} redirect${hosts.length > 1 ? '' : 's'} from https to http, so ${risk}`;
  return /^http:/i.test(longUrl ?? '') ? risk : null;
}

/** Schemes that open common apps, possibly after a prompt, but never run code. */
const apps =
  /^(?:mailto|tel|sms|callto|facetime|geo|maps|webcal|intent|market|itms(?:-apps)?|skype|tg|viber|whatsapp|signal|spotify|zoommtg|msteams|slack|discord|fb|instagram|twitter|magnet|bitcoin):/i;

function kindOf({ end, error, hops }: Expansion): Kind {
  if (end.code === 'final') return pageKind(hops.at(-1));
  if (end.code === 'unsupported_scheme' && !error) return apps.test(end.target ?? '') ? 'app' : 'not_web';
  return end.reason ?? end.code;
}

const kindOfStatus: Record<number, Kind> = {
  ...{ 204: 'nothing', 205: 'nothing', 304: 'nothing', 404: 'gone', 410: 'gone' },
  ...{ 401: 'blocked', 403: 'blocked', 429: 'too_often', 451: 'blocked', 999: 'blocked' },
};

function pageKind(hop: Hop | undefined): Kind {
  const status = hop?.status ?? 200;
  const kind = kindOfStatus[status];
  // The website rejected HEAD, and GET did not complete.
  if (status >= 400 && hop?.interrupted && kind !== 'blocked') return 'down';
  if (kind) return kind;
  if (status >= 400) return status < 500 ? 'rejected' : 'down';
  if (hop?.interrupted) return hop.bytesRead ? 'cut' : 'unread';
  if (hop?.file) return 'file';
  if (hop?.scriptRedirect) return 'sends_on';
  return hop?.incomplete ? 'partly' : 'found';
}
