import type { Expansion, Hop } from '../expansion/expansion.ts';
import { imitatedHost, type UnicodeHost } from '../expansion/host.ts';
import { list } from './wording.ts';

/** The verdicts, which visitors read first, and their colours. */
export const tones = {
  'Page found': 'plain',
  File: 'plain',
  'Opens an app': 'grey',
  'Broken link': 'grey',
  'Not encrypted': 'amber',
  'Blocked our check': 'amber',
  'Not working just now': 'amber',
  'Certificate problem': 'amber',
  Beware: 'red',
} as const;

/** The page's words for one kind of end. */
export interface Ending {
  /** Null if the end is no fault of the link. */
  verdict: keyof typeof tones | null;
  headline: string;
  /** The headline if there was no redirect; by default the same. */
  direct?: string;
  /** By default the last page's status, or the end's message. */
  sentence?: string;
  advice?: string | ((url: URL) => string);
  /** Why the chain's last URL has no response; by default the error's message. */
  stop?: string;
  /** The label of the link to the end, if there is one. */
  open?: 'Open it' | 'Open anyway';
  /** The visitor's other option. */
  next?: 'Try again' | 'Follow on';
}

const pageThat = (does: string) => ({
  headline: `It leads to a page that ${does}`,
  direct: `This page ${does}`,
});

const found = {
  verdict: 'Page found',
  headline: 'It leads to',
  direct: 'It leads straight to',
  open: 'Open it',
} as const satisfies Ending;
const brokenPage = { verdict: 'Broken link', open: 'Open anyway' } as const;
const blocked = {
  verdict: 'Blocked our check',
  ...pageThat('blocked our check'),
  advice: 'It may still open for you.',
  open: 'Open anyway',
} as const satisfies Ending;
const notWorking = { verdict: 'Not working just now', open: 'Open anyway', next: 'Try again' } as const;
const brokenLink = { verdict: 'Broken link', headline: 'The link is broken' } as const;
const notWeb = {
  headline: 'It does not lead to a web page',
  sentence: 'Only web pages are followed.',
  stop: 'Not a web page, so it was not visited.',
};
const notUrl = { verdict: null, headline: 'This is not a URL' };

const endings = {
  found,
  sends_on: {
    verdict: 'Page found',
    ...pageThat('may send you on'),
    advice: 'A script in it opens another address. Scripts are not run here.',
    open: 'Open anyway',
  },
  partly: { ...found, advice: 'Only the first part of the page was checked for redirects.' },
  cut: {
    ...found,
    advice: 'The page could not be read to its end, so a redirect in it may be missing.',
    open: 'Open anyway',
    next: 'Try again',
  },
  file: {
    verdict: 'File',
    headline: 'It leads to a file at',
    advice: 'Open it only if you expect this file.',
    open: 'Open anyway',
  },
  nothing: { verdict: 'Page found', ...pageThat('is empty'), open: 'Open anyway' },
  unread: {
    ...notWorking,
    ...pageThat('could not be read'),
    sentence: 'The website announced the page, but did not send it.',
  },
  gone: { ...brokenPage, ...pageThat('does not exist'), next: 'Try again' },
  rejected: { ...brokenPage, ...pageThat('does not work') },
  blocked,
  too_often: { ...blocked, next: 'Try again' },
  down: { ...notWorking, ...pageThat('is not working just now') },

  max_redirects: {
    verdict: 'Broken link',
    headline: 'It redirects too many times',
    stop: 'Not visited: this is beyond the limit of redirects.',
    open: 'Open anyway',
    next: 'Follow on',
  },
  loop: {
    verdict: 'Broken link',
    headline: 'The redirects form a loop',
    sentence: 'A redirect leads back to an earlier URL, so no page can be reached.',
    stop: 'Visited before: the loop starts again here.',
  },
  no_location: { ...brokenLink, open: 'Open anyway' },
  malformed_location: { ...brokenLink, stop: 'Not a URL.' },
  app: { ...notWeb, verdict: 'Opens an app' },
  not_web: { ...notWeb, verdict: 'Beware', advice: 'Opening it may run code or start a program.' },

  request_failed: { ...notWorking, headline: 'The link does not work' },
  timeout: { ...notWorking, headline: 'No answer in time', advice: 'The website may be busy.' },
  certificate: { ...notWorking, verdict: 'Certificate problem', headline: 'It may be another website' },
  unknown_name: {
    verdict: 'Broken link',
    headline: 'The link does not work',
    advice: 'The name may be misspelled, or have been given up.',
    next: 'Try again',
  },

  target_refused: { verdict: 'Beware', headline: 'This address is not followed' },
  port: { verdict: 'Beware', headline: 'It does not lead to a website' },
  private_address: {
    verdict: 'Beware',
    headline: 'It leads to a private network',
    advice: 'Only public websites are followed.',
  },
  credentials: {
    verdict: 'Beware',
    headline: 'It hides where it leads',
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
  unsupported_scheme: { verdict: null, headline: 'This is not a web address' },
  overloaded: { verdict: null, headline: 'The server is busy', next: 'Try again' },
  rate_limited: { verdict: null, headline: 'Too many links at once', next: 'Try again' },
  unknown_key: { verdict: null, headline: 'Unknown key' },
  aborted: { verdict: null, headline: 'Stopped' },
} satisfies Record<string, Ending>;

type Kind = keyof typeof endings;

/** The page's words for an expansion that ends at `host`. */
export function endingOf(expansion: Expansion, host: UnicodeHost | null): Ending {
  const ending: Ending = endings[kindOf(expansion)];
  const { verdict, open } = ending;
  const careful = open && ({ open: 'Open anyway' } as const);
  if (verdict && host && (host.imitates || host.mixedScripts.length > 0)) {
    const imitated = host.imitates ?? imitatedHost(host.unicodeHost ?? '', /[0-9a-z-]/);
    const headline = imitated ? `It can be mistaken for ${imitated}` : 'Its name mixes alphabets';
    return { ...ending, ...careful, verdict: 'Beware', headline, direct: headline };
  }
  if (verdict === 'Page found' && unencrypted(expansion)) {
    return { ...ending, ...careful, verdict: 'Not encrypted' };
  }
  return ending;
}

/**
 * Why the link is not encrypted: its last URL is http, or https led to http. An http URL that leads to https is fine, because
 * links are often typed without a scheme.
 */
export function unencrypted({ hops, longUrl }: Expansion): string | null {
  const hosts = hops.filter(({ downgrade }) => downgrade).map(({ url }) => new URL(url).host);
  const others = 'others on the way can read and change what is sent.';
  if (hosts.length > 0)
    return `${list(hosts)} redirect${hosts.length > 1 ? '' : 's'} from https to http, so ${others}`;
  return /^http:/i.test(longUrl ?? '') ? others : null;
}

/** Schemes that open common apps, perhaps after a prompt, and run no code. */
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
  // HEAD was refused, and GET failed.
  if (status >= 400 && hop?.interrupted && kind !== 'blocked') return 'down';
  if (kind) return kind;
  if (status >= 400) return status < 500 ? 'rejected' : 'down';
  if (hop?.interrupted) return hop.bytesRead ? 'cut' : 'unread';
  if (hop?.file) return 'file';
  if (hop?.scriptRedirect) return 'sends_on';
  return hop?.incomplete ? 'partly' : 'found';
}
