import { words } from '../pieces.ts';
import {
  end,
  first,
  type Link,
  ofCases,
  ofLines,
  ofReplies,
  ofWebsites,
  page,
  redirect,
  start,
} from './link.ts';
import { meta, refresh, unquoted } from './pages.ts';
import type { Reply, Website } from './stage.ts';

const statuses: Link[] = [
  ...[301, 302, 303, 307, 308].flatMap((status) =>
    ofReplies('Status', {
      [`${status} with a Location`]: redirect('/x', status),
      [`${status} without a Location`]: { ...page('no location'), status },
      [`${status} without a Location, with a Refresh`]: { ...page('', [refresh('0;url=/x')]), status },
      [`${status} with an empty Location`]: redirect('', status),
    }),
  ),
  ...ofCases(
    'Status',
    words`200 201 300 305 400 401 403 404 429 503`.map((status) => `${status} with a Location`),
    (sent) => ({ ...page('not a redirect', [['Location', '/x']]), status: Number.parseInt(sent, 10) }),
  ),
  ...ofReplies('Status', {
    '407 with a Refresh': { ...page('', [refresh('0;url=/x')]), status: 407 },
    '407 with a meta refresh': { ...page(meta('0;url=/x')), status: 407 },
    '404 with a Refresh': { ...page('', [refresh('0;url=/x')]), status: 404 },
  }),
];

const locations = {
  'Location: references': words`
    /x ../x ?z /x#own /x# //other.example http://other.example?z HTTP://Other.EXAMPLE/X http:x
    https://other.example/x
  `,
  'Location: backslashes': words`
    /\other.example/ \\other.example/x \x http://other.example\@evil.example
    http://user:pw@other.example/ http://us%40er:p%3Aw@other.example/ /x?y\z#w\v
  `,
  'Location: hosts and ports': words`
    http://other.example:80/ http://other.example:0080/ https://other.example:443/ http://OTHER.example./
    http://a_b.example/ http://%6fther.example/ http://bücher.example/ http://faß.example/
    http://o‹u+00ad›ther.example/ http://１２７.0.0.1/ http://0x7f.1/ http://127.0.0.1./ http://💩.example/
    http://xn--a.example/
  `,
  'Location: no website': words`
    http:// http://[ http://other.example:99999/ http://1.2.3.4.5/ http://other.example:22/
    http://b%FCcher.example/ mailto:someone@example.com javascript:alert(1) intent://x#Intent;end
    ftp://other.example/
  `,
};

const references: Link[] = [
  ...Object.entries(locations).flatMap(([group, cases]) => ofCases(group, cases, redirect)),
  ...ofLines('locations.txt', redirect),
  { group: 'Location: characters', sent: '/ and 4,000 x', website: first(redirect(`/${'x'.repeat(4_000)}`)) },
];

const noHost = 'no DNS name has these characters';

export const departures: readonly Link[] = [
  ['/x|y', '/x%7Cy', 'the URL Standard allows it in a path'],
  ['http://a b/', 'http://a%20b/', noHost],
  ['http://a*b.example/', 'http://a%2Ab.example/', noHost],
  ['http://a"b.example/', 'http://a"b.example/', noHost],
  ['http://a{b}.example/', 'http://a{b}.example/', noHost],
].map(([sent = '', end = '', reason = '']) => ({
  group: 'Where Chromium departs from the URL Standard',
  sent,
  website: first(redirect(sent)),
  chromium: `${end.replace(/^\//, 'http://start.example/')}#part`,
  reason,
}));

/** Creates a chain of `length` redirects. `next` creates the response when `left` redirects remain. */
const chain =
  (length: number, next: (left: number) => Reply): Website =>
  ({ path }) => {
    const left = path.startsWith('/a/b') ? length : Number(/^\/(\d+)$/.exec(path)?.[1] ?? 0);
    return left === 0 ? end : next(left);
  };

const twice = (...locations: string[]): Reply => ({
  status: 302,
  headers: locations.map((location) => ['Location', location]),
});

const several: Link[] = ofReplies('Two Location headers', {
  '/x and /x': twice('/x', '/x'),
  '/x and /y': twice('/x', '/y'),
  '/x and an empty Location': twice('/x', ''),
  'an empty Location and /x': twice('', '/x'),
});

const chains: Link[] = ofWebsites('Chains', {
  ...Object.fromEntries(
    [2, 5, 6, 19, 20, 21].map((length) => [
      `${length} redirects`,
      chain(length, (left) => redirect(`/${left - 1}`)),
    ]),
  ),
  '5 pages, each with a refresh': chain(5, (left) => page(meta(`0;url=/${left - 1}`))),
  'alternating redirects and refreshes': chain(6, (left) =>
    left % 2 ? redirect(`/${left - 1}#${left}`) : page('', [refresh(`0;url=/${left - 1}`)]),
  ),
  'from http to https and back': ({ path, encrypted }) => {
    if (encrypted) return redirect('http://other.example/end');
    return path.startsWith('/a/b') ? redirect('https://secure.example/') : end;
  },
  'a fragment that the second of three redirects replaces': chain(3, (left) =>
    redirect(left === 2 ? '/1#own' : `/${left - 1}`),
  ),
});

/** Each host sends the header over https and redirects to http. Chromium remembers HSTS, so each link needs a different host. */
const strictTransport = ofLines('strict-transport.txt', () => end).map((link, index): Link => {
  const [field = '', next = ''] = link.sent.split(' => ');
  const host = `strict-${index}.example`;
  const location = ['Location', next.replace('HOST', host)] as const;
  const reply: Reply = { status: 302, headers: [location, ['Strict-Transport-Security', field]] };
  const website: Website = ({ path, encrypted }) => {
    if (path.startsWith('/end')) return end;
    return encrypted ? reply : redirect(`https://${host}/`);
  };
  return { ...link, website };
});

const target = encodeURIComponent('http://target.example/x?y=z');

/** Each wrapper redirects to its target. Chromium requests the wrapper, but Longhand does not. */
const wrappers: Link[] = [
  `http://nam02.safelinks.protection.outlook.com/?url=${target}&data=05`,
  'http://urldefense.proofpoint.com/v2/url?u=http-3A__target.example_x-3Fy-3Dz&d=DwMF&c=x',
  'http://urldefense.com/v3/__http://target.example/x?y=z__;!!Abc!def$',
  `http://www.google.com/url?q=${target}&sa=D`,
  `http://www.google.com/url?q=weather&url=${target}&sa=D`,
  `http://l.facebook.com/l.php?u=${target}&h=AT0`,
  `http://l.threads.com/?u=${target}&e=AT0`,
  `http://nam02.safelinks.protection.outlook.com/?data=05&amp;url=${target}`,
  `http://statics.teams.cdn.office.net/evergreen-assets/safelinks/1/atp-safelinks.html?url=${target}&locale=en-us`,
  `http://urldefense.proofpoint.com/v1/url?u=${target}&k=x`,
  'http://urldefense.proofpoint.com/v2/url?u=http-3A__target.example_x-3Fy-3Dz-26amp-3B1&d=x',
].map((url) => ({
  group: 'Wrappers',
  sent: url,
  website: ({ host }) => {
    if (host === 'start.example') return redirect(url);
    if (host === 'target.example') return end;
    return redirect(`http://target.example/x?y=z${url.includes('amp-3B') ? '&1' : ''}`);
  },
}));

/** The head of a chunked response. */
const inChunks = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n';

const rawHeads: Link[] = [
  ...ofReplies('Status', {
    '302 with a space before the colon': { status: 302, headers: [['Location ', '/x']] },
  }),
  ...ofLines('heads.txt', (line) => ({
    raw: line.includes('{meta}') ? inChunks + line.replace('{meta}', unquoted) : line,
  })),
  {
    group: 'Chunks',
    sent: '7fffffffffffffff, truncated',
    website: first({ raw: `${inChunks}7fffffffffffffff\r\n${unquoted}` }),
    chromium: start,
    reason: 'Chromium ignores the refreshes of a truncated page, but Longhand follows them',
  },
];

export const redirectLinks: readonly Link[] = [...statuses, ...references, ...several, ...chains];

/** Links that depend on http or HTTP/1.1. */
export const http1Links: readonly Link[] = [...wrappers, ...strictTransport, ...rawHeads];
