import { end, type Link, ofLines, ofWebsites, page, redirect } from './link.ts';
import type { Website } from './stage.ts';

/** Sets cookies and redirects to `there`, which redirects to a URL with the cookies that it receives. */
const setting =
  (lines: readonly string[], there = '/check'): Website =>
  ({ path, cookie }) => {
    if (path.startsWith('/a/b')) return cookiesAnd(redirect(there), ...lines);
    if (!path.startsWith('/check')) return end;
    return redirect(cookie === '' ? '/none' : `/sent?${cookie.replaceAll(' ', '')}`);
  };

const cookiesAnd = (reply: ReturnType<typeof redirect>, ...lines: string[]) => ({
  ...reply,
  headers: [...(reply.headers ?? []), ...lines.map((line) => ['Set-Cookie', line] as const)],
});

/** A website whose first page depends on the cookies that it receives. */
const first =
  (answer: (cookie: string) => ReturnType<Website>): Website =>
  ({ path, cookie }) =>
    path.startsWith('/a/b') ? answer(cookie) : end;

/** Another website redirects back to the website that set the cookie. */
const roundTrip =
  (sameSite: string): Website =>
  ({ host, path, cookie }) => {
    if (host !== 'start.example') return redirect('http://start.example/check');
    if (path.startsWith('/a/b'))
      return cookiesAnd(redirect('http://other.example/'), `a=1; Path=/; SameSite=${sameSite}`);
    return path.startsWith('/check') ? redirect(cookie === '' ? '/none' : `/sent?${cookie}`) : end;
  };

const websites: Record<string, Website> = {
  two: setting(['a=1', 'b=2']),
  'one, twice': setting(['a=1', 'a=2']),
  'one, removed': setting(['a=1; Path=/', 'a=; Path=/; Max-Age=0']),
  'of 4,096 bytes': setting([`a=${'x'.repeat(4_095)}`]),
  'of 4,097 bytes': setting([`a=${'x'.repeat(4_096)}`]),
  'of a domain, at a subdomain': setting(
    ['a=1; Path=/; Domain=start.example'],
    'http://www.start.example/check',
  ),
  'of a host, at a subdomain': setting(['a=1; Path=/'], 'http://www.start.example/check'),
  'of a host, at another': setting(['a=1; Path=/'], 'http://other.example/check'),
  'of a host, at another port': setting(['a=1; Path=/'], 'http://start.example:8080/check'),
  'of http, at https': setting(['a=1; Path=/'], 'https://start.example/check'),
  'of http and secure, at https': setting(['a=1; Path=/; Secure'], 'https://start.example/check'),
  'of http, after a secure cookie': ({ path, cookie }) => {
    if (path === '/set') return cookiesAnd(redirect('http://start.example/a/b?2'), 'a=1; Secure; Path=/');
    if (path === '/a/b?2') return cookiesAnd(redirect('https://start.example/check'), 'a=2; Path=/');
    if (path === '/check') return redirect(`/sent?${cookie}`);
    return path.startsWith('/a/b') ? redirect('https://start.example/set') : end;
  },
  "of SameSite=Strict, after another website's redirect": roundTrip('Strict'),
  "of SameSite=Lax, after another website's redirect": roundTrip('Lax'),
  'of a path, below it': setting(['a=1; Path=/check'], '/check/below'),
  'of a path, at a similar path': setting(['a=1; Path=/check'], '/checked'),
  'set by a website that redirects to itself': first((cookie) =>
    cookie ? redirect('/in') : cookiesAnd(redirect('/a/b?q'), 'seen=1'),
  ),
  'set by a page that reloads itself': first((cookie) =>
    cookiesAnd(page('', [['Refresh', cookie ? '0;url=/in' : '0']]), 'seen=1'),
  ),
  'that five visits change': first((cookie) => {
    const visits = Number(/visits=(\d)/.exec(cookie)?.[1] ?? 0) + 1;
    return visits === 5 ? redirect('/in') : cookiesAnd(redirect('/a/b?q'), `visits=${visits}`);
  }),
};

export const cookies: readonly Link[] = [
  ...ofLines('cookies.txt', () => end).map((link) => ({
    ...link,
    website: setting([link.sent.replaceAll('␠', ' ')]),
  })),
  ...ofWebsites('Cookies', websites),
];
