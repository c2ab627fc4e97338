import { end, type Link, ofWebsites, page, redirect, start } from './link.ts';
import { refresh } from './pages.ts';
import type { ReceivedRequest, Reply, Website } from './stage.ts';

type Answer = ReturnType<Website>;

/** A website whose first page has one response for HEAD and another for GET. All other pages end the chain. */
const firstPage =
  (head: Answer, get: Answer): Website =>
  ({ method, path }) => {
    if (!path.startsWith('/a/b')) return end;
    return method === 'HEAD' ? head : get;
  };

/** GET redirects to `/by-get`. */
const onlyGet = (head: Answer) => firstPage(head, redirect('/by-get'));

/** GET shows a page. */
const article = page('<title>An article</title>');
const shownByGet = (head: Answer) => firstPage(head, article);

const typed = (type: string, headers: Reply['headers'] = []): Reply => ({
  headers: [['Content-Type', type], ...headers],
  body: 'x',
});

const statuses = [
  ...[201, 202, 203, 204, 206, 300, 304, 400, 401, 403, 404, 405, 406, 410, 415, 416, 422, 429],
  ...[500, 501, 502, 503],
];

const hasOnlyGet: Record<string, Answer> = {
  ...Object.fromEntries(statuses.map((status) => [`HEAD returns ${status}`, { ...end, status }])),
  'HEAD returns a page': page(''),
  'HEAD returns a Content-Length of 0': { headers: end.headers, body: '' },
  'HEAD returns nosniff without a Content-Type': typed('', [['X-Content-Type-Options', 'nosniff']]),
  'HEAD returns text/plain': typed('text/plain'),
  'HEAD returns text/plain with nosniff': typed('text/plain', [['X-Content-Type-Options', 'nosniff']]),
  'HEAD returns application/json': typed('application/json'),
  'HEAD returns image/png': typed('image/png'),
  'HEAD returns application/octet-stream': typed('application/octet-stream'),
  'HEAD returns application/pdf': typed('application/pdf'),
  'HEAD returns an attachment': typed('text/html', [['Content-Disposition', 'attachment; filename=a.txt']]),
  'HEAD returns a Refresh': typed('text/plain', [refresh('0;url=/by-head')]),
  'HEAD returns 300 with a Location': redirect('/by-head', 300),
  'HEAD returns 302 without a Location': { ...end, status: 302 },
  'HEAD returns 302 with a malformed Location': redirect('http://['),
  'HEAD redirects to an app': redirect('mailto:someone@example.com'),
  'HEAD redirects to another page': redirect('/by-head'),
  'HEAD redirects to another host of the website': redirect('http://www.start.example/by-head'),
  'HEAD returns two Locations': { status: 302, headers: [...locations('/x'), ...locations('/y')] },
  'HEAD returns two lengths': { raw: 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n' },
  'HEAD returns a head of 16 KB': typed('text/html', [['X', 'x'.repeat(16 * 1024)]]),
  'HEAD is reset': 'reset',
  'HEAD is ignored': 'silence',
};

const hasPageForGet: Record<string, Answer> = {
  'HEAD redirects to /login': redirect('/login'),
  'HEAD redirects to /': redirect('/'),
  'HEAD redirects to itself': redirect('/a/b?q'),
  'HEAD redirects to itself and sets a cookie': {
    status: 302,
    headers: [...locations('/a/b?q'), ['Set-Cookie', 'seen=1']],
  },
};

function locations(location: string): Required<Reply>['headers'] {
  return [['Location', location]];
}

/** A website that redirects HEAD, but shows a page for GET. */
const redirectsHead =
  (target: (request: ReceivedRequest) => string): Website =>
  (request) =>
    request.method === 'HEAD' ? redirect(target(request)) : article;

const otherHost = ({ host, encrypted }: ReceivedRequest) =>
  `http${encrypted ? 's' : ''}://${host === 'start.example' ? 'other.example' : 'start.example'}`;

const elsewhere: Record<string, Website> = {
  'HEAD redirects to a missing page': ({ method, path }) => {
    if (path === '/missing') return { ...page('Not found'), status: 404 };
    return method === 'HEAD' ? redirect('/missing') : article;
  },
  'HEAD redirects to a broken page': ({ method, path }) => {
    if (path === '/error') return { ...page('Error'), status: 500 };
    return method === 'HEAD' ? redirect('/error') : article;
  },
  'HEAD redirects to a longer URL': redirectsHead(({ path }) => `${path}x`),
  'HEAD redirects to another website and back': redirectsHead(
    (request) => `${otherHost(request)}${request.path}`,
  ),
  'the second page returns a file for HEAD': ({ method, path }) => {
    if (path.startsWith('/a/b')) return redirect('/second');
    if (path !== '/second') return end;
    return method === 'HEAD' ? typed('application/octet-stream') : redirect('/by-get');
  },
  'the second website redirects HEAD to /login': ({ method, host, path }) => {
    if (host === 'start.example') return redirect('http://other.example/article');
    return method === 'HEAD' && path === '/article' ? redirect('/login') : article;
  },
  'HEAD and GET upgrade to https, then HEAD returns 404': ({ method, path, encrypted }) => {
    if (!encrypted) return redirect(`https://start.example${path}`);
    if (!path.startsWith('/a/b')) return article;
    return method === 'HEAD' ? { ...end, status: 404 } : redirect('/by-get');
  },
};

/** Creates a website that redirects every second GET to the same URL. */
function everySecondTime(redirection: Reply): Website {
  // Links over http and https run in parallel.
  const requests = { http: 0, https: 0 };
  return ({ method, encrypted }) => {
    if (method === 'HEAD') return redirection;
    return requests[encrypted ? 'https' : 'http']++ % 2 === 0 ? redirection : article;
  };
}

const repeating: Record<string, Website> = {
  'a website that redirects once to the same URL': everySecondTime(redirect('/a/b?q')),
  'a website that redirects once to the same URL, permanently': everySecondTime(redirect('/a/b?q', 308)),
  'a website that always redirects to the same URL': () => redirect('/a/b?q'),
};

const ofAnswers = (answers: Record<string, Answer>, websiteOf: (answer: Answer) => Website) =>
  Object.fromEntries(Object.entries(answers).map(([sent, answer]) => [sent, websiteOf(answer)]));

/** Redirects by HEAD that count, although GET redirects elsewhere. */
const trusted: Link[] = [
  {
    group: 'Hosts that differ for HEAD and GET',
    sent: 'HEAD redirects to another website, GET to a third one',
    website: ({ method, host }) => {
      if (host !== 'start.example') return end;
      return redirect(`http://${method === 'HEAD' ? 'by-head' : 'by-get'}.example/`);
    },
    chromium: 'http://by-get.example/#part',
    reason: 'a redirect by HEAD to another website counts, so that shorteners receive one request',
  },
  {
    group: 'Hosts that differ for HEAD and GET',
    sent: 'HEAD redirects to another website, which redirects HEAD back to another page',
    website: redirectsHead((request) => `${otherHost(request)}${request.path}x`),
    chromium: start,
    reason: 'a redirect by HEAD to another website counts, so that shorteners receive one request',
  },
  {
    group: 'Hosts that differ for HEAD and GET',
    sent: 'HEAD redirects to https',
    website: ({ method, encrypted, path }) =>
      method === 'HEAD' && !encrypted ? redirect(`https://start.example${path}`) : article,
    chromium: start,
    reason: 'a redirect by HEAD to the same URL with https counts, because servers upgrade all methods',
  },
];

/** Links to websites whose responses to HEAD and GET differ, and to websites that redirect to the same URL. */
export const methodLinks: readonly Link[] = [
  ...ofWebsites('Hosts that support only GET', ofAnswers(hasOnlyGet, onlyGet)),
  ...ofWebsites('Hosts that show a page only for GET', ofAnswers(hasPageForGet, shownByGet)),
  ...ofWebsites('Hosts that differ for HEAD and GET', elsewhere),
  ...trusted,
  ...ofWebsites('Repeated URLs', repeating),
];
