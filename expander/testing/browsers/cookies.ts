import { end, type Link, ofLines, ofWebsites, page, redirect } from './link.ts';
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

const websites: Record<string, Website> = {
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
