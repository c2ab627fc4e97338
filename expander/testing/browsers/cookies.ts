import { end, type Link, ofLines, ofWebsites, page, redirect } from './link.ts';
import { meta } from './pages.ts';
import type { Website } from './stage.ts';

/** A website that sets cookies and redirects to `target`. The target redirects to a URL with the received cookies. */
const setting =
  (lines: readonly string[], target = '/a/check'): Website =>
  ({ path, cookie }) => {
    if (path.startsWith('/a/b')) return withCookies(redirect(target), ...lines);
    if (!/^(?:\/a)?\/check/.test(path)) return end;
    return redirect(cookie === '' ? '/none' : `/sent?${cookie.replaceAll(' ', '')}`);
  };

const withCookies = (reply: ReturnType<typeof redirect>, ...lines: string[]) => ({
  ...reply,
  headers: [...(reply.headers ?? []), ...lines.map((line) => ['Set-Cookie', line] as const)],
});

/** A website whose first page depends on the received cookies. */
const first =
  (answer: (cookie: string) => ReturnType<Website>): Website =>
  ({ path, cookie }) =>
    path.startsWith('/a/b') ? answer(cookie) : end;

/** A website that sets a cookie and redirects to another website, which redirects back. */
const roundTrip =
  (sameSite: string): Website =>
  ({ host, path, cookie }) => {
    if (host !== 'start.example') return redirect('http://start.example/check');
    if (path.startsWith('/a/b'))
      return withCookies(redirect('http://other.example/'), `a=1; Path=/; SameSite=${sameSite}`);
    return path.startsWith('/check') ? redirect(cookie === '' ? '/none' : `/sent?${cookie}`) : end;
  };

/** A website that sets a cookie and redirects to another website, whose page leads back. */
const refreshBack =
  (line: string, back: (path: string) => ReturnType<typeof redirect>): Website =>
  ({ host, path, cookie }) => {
    if (host !== 'start.example') return back(path);
    if (path.startsWith('/a/b')) return withCookies(redirect('http://other.example/'), `${line}; Path=/`);
    if (path.startsWith('/again')) return page(refreshTo('/check'));
    if (path.startsWith('/on')) return redirect('/check');
    return path.startsWith('/check') ? redirect(cookie === '' ? '/none' : `/sent?${cookie}`) : end;
  };

const refreshTo = (url: string) => meta(`0;url=${url}`);
const strict = 'a=1; SameSite=Strict';
const checked = 'http://start.example/check';

/** A website at https that sets cookies, then clears them with this header. */
const clearing =
  (value: string, { at = 'https', more = [] as string[], host = 'start.example' } = {}): Website =>
  ({ path, cookie }) => {
    if (path.startsWith('/a/b')) return redirect('https://start.example/set');
    if (path === '/set')
      return withCookies(redirect(`${at}://${host}/clear`), 'a=1; Path=/; Domain=start.example');
    if (path === '/clear') {
      const reply = withCookies(redirect(`${at}://start.example/check`), ...more);
      return { ...reply, headers: [...(reply.headers ?? []), ['Clear-Site-Data', value]] };
    }
    if (path === '/check') return redirect(cookie === '' ? '/none' : `/sent?${cookie.replaceAll(' ', '')}`);
    return end;
  };

const websites: Record<string, Website> = {
  'a SameSite=Strict cookie after a refresh from another website': refreshBack(strict, () =>
    page(refreshTo(checked)),
  ),
  'a SameSite=Strict cookie after a Refresh header from another website': refreshBack(strict, () =>
    page('', [['Refresh', `0;url=${checked}`]]),
  ),
  'a SameSite=Lax cookie after a refresh from another website': refreshBack('a=1; SameSite=Lax', () =>
    page(refreshTo(checked)),
  ),
  'a cookie without SameSite after a refresh from another website': refreshBack('a=1', () =>
    page(refreshTo(checked)),
  ),
  'a SameSite=Strict cookie after a refresh within another website, which redirects': refreshBack(
    strict,
    (path) => (path === '/' ? page(refreshTo('/x')) : redirect(checked)),
  ),
  'a SameSite=Strict cookie after a refresh from another website and a redirect': refreshBack(strict, () =>
    page(refreshTo('http://start.example/on')),
  ),
  'a SameSite=Strict cookie after a refresh from another website and a refresh': refreshBack(strict, () =>
    page(refreshTo('http://start.example/again')),
  ),
  'a SameSite=Strict cookie after a refresh from another host of the website': ({ host, path, cookie }) => {
    if (host === 'www.start.example') return page(refreshTo(checked));
    if (path.startsWith('/a/b'))
      return withCookies(redirect('http://www.start.example/'), `${strict}; Path=/`);
    return path.startsWith('/check') ? redirect(cookie === '' ? '/none' : `/sent?${cookie}`) : end;
  },
  'a SameSite=Strict cookie after a refresh from http to https': ({ path, cookie }) => {
    if (path.startsWith('/a/b'))
      return withCookies(page(refreshTo('https://start.example/check')), `${strict}; Path=/`);
    return path.startsWith('/check') ? redirect(cookie === '' ? '/none' : `/sent?${cookie}`) : end;
  },
  'Clear-Site-Data: "cookies"': clearing('"cookies"'),
  'Clear-Site-Data: "*"': clearing('"*"'),
  'Clear-Site-Data: "cache", "cookies"': clearing('"cache", "cookies"'),
  'Clear-Site-Data: "storage"': clearing('"storage"'),
  'Clear-Site-Data: cookies': clearing('cookies'),
  'Clear-Site-Data: "Cookies"': clearing('"Cookies"'),
  'Clear-Site-Data: "cookies" over http': clearing('"cookies"', { at: 'http' }),
  'Clear-Site-Data: "cookies" with a new cookie': clearing('"cookies"', { more: ['b=2; Path=/'] }),
  'Clear-Site-Data: "cookies" at a subdomain': clearing('"cookies"', { host: 'www.start.example' }),
  'Clear-Site-Data: "cookies" at another website': clearing('"cookies"', { host: 'other.example' }),
  'two cookies': setting(['a=1', 'b=2']),
  'a cookie that is set twice': setting(['a=1', 'a=2']),
  'a cookie that is set and removed': setting(['a=1; Path=/', 'a=; Path=/; Max-Age=0']),
  'a cookie of 4,096 bytes': setting([`a=${'x'.repeat(4_095)}`]),
  'a cookie of 4,097 bytes': setting([`a=${'x'.repeat(4_096)}`]),
  'a domain cookie at a subdomain': setting(
    ['a=1; Path=/; Domain=start.example'],
    'http://www.start.example/check',
  ),
  'a host cookie at a subdomain': setting(['a=1; Path=/'], 'http://www.start.example/check'),
  'a host cookie at another host': setting(['a=1; Path=/'], 'http://other.example/check'),
  'a host cookie at another port': setting(['a=1; Path=/'], 'http://start.example:8080/check'),
  'an http cookie at https': setting(['a=1; Path=/'], 'https://start.example/check'),
  'a Secure cookie that is set over http': setting(['a=1; Path=/; Secure'], 'https://start.example/check'),
  'an http cookie after a Secure cookie': ({ path, cookie }) => {
    if (path === '/set') return withCookies(redirect('http://start.example/a/b?2'), 'a=1; Secure; Path=/');
    if (path === '/a/b?2') return withCookies(redirect('https://start.example/check'), 'a=2; Path=/');
    if (path === '/check') return redirect(`/sent?${cookie}`);
    return path.startsWith('/a/b') ? redirect('https://start.example/set') : end;
  },
  'a SameSite=Strict cookie after a cross-site redirect': roundTrip('Strict'),
  'a SameSite=Lax cookie after a cross-site redirect': roundTrip('Lax'),
  'a path cookie below its path': setting(['a=1; Path=/check'], '/check/below'),
  'a path cookie at a similar path': setting(['a=1; Path=/check'], '/checked'),
  'a website that sets a cookie and redirects to itself': first((cookie) =>
    cookie ? redirect('/in') : withCookies(redirect('/a/b?q'), 'seen=1'),
  ),
  'a page that sets a cookie and reloads itself': first((cookie) =>
    withCookies(page('', [['Refresh', cookie ? '0;url=/in' : '0']]), 'seen=1'),
  ),
  'a cookie that five visits change': first((cookie) => {
    const visits = Number(/visits=(\d)/.exec(cookie)?.[1] ?? 0) + 1;
    return visits === 5 ? redirect('/in') : withCookies(redirect('/a/b?q'), `visits=${visits}`);
  }),
};

export const cookies: readonly Link[] = [
  ...ofLines('cookies.txt', () => end).map((link) => ({
    ...link,
    website: setting([link.sent.replaceAll('␠', ' ')]),
  })),
  ...ofWebsites('Cookies', websites),
];
