import { end, type Link, ofLines, page, redirect } from './link.ts';
import type { Website } from './stage.ts';

/** Sets cookies and leads to `there`, which leads on by the cookies that it gets. */
const setting =
  (lines: readonly string[], there = '/check'): Website =>
  ({ path, cookie }) => {
    if (path.startsWith('/a/b')) {
      const headers = lines.map((line) => ['Set-Cookie', line] as const);
      return { status: 302, headers: [['Location', there], ...headers] };
    }
    if (!path.startsWith('/check')) return end;
    return redirect(cookie === '' ? '/none' : `/sent?${cookie.replaceAll(' ', '')}`);
  };

const group = 'Cookies';

export const cookies: readonly Link[] = [
  ...ofLines('cookies.txt', () => end).map(({ sent }) => ({
    group: 'Cookies: Set-Cookie',
    sent,
    website: setting([sent.replaceAll('␠', ' ')]),
  })),
  { group, sent: 'two', website: setting(['a=1', 'b=2']) },
  { group, sent: 'one, twice', website: setting(['a=1', 'a=2']) },
  { group, sent: 'one, removed', website: setting(['a=1; Path=/', 'a=; Path=/; Max-Age=0']) },
  { group, sent: 'of 4,096 bytes', website: setting([`a=${'x'.repeat(4_095)}`]) },
  { group, sent: 'of 4,097 bytes', website: setting([`a=${'x'.repeat(4_096)}`]) },
  {
    group,
    sent: 'of a domain, at a subdomain',
    website: setting(['a=1; Path=/; Domain=start.example'], 'http://www.start.example/check'),
  },
  {
    group,
    sent: 'of a host, at a subdomain',
    website: setting(['a=1; Path=/'], 'http://www.start.example/check'),
  },
  { group, sent: 'of a host, at another', website: setting(['a=1; Path=/'], 'http://other.example/check') },
  {
    group,
    sent: 'of a host, at another port',
    website: setting(['a=1; Path=/'], 'http://start.example:8080/check'),
  },
  { group, sent: 'of http, at https', website: setting(['a=1; Path=/'], 'https://start.example/check') },
  {
    group,
    sent: 'of http and secure, at https',
    website: setting(['a=1; Path=/; Secure'], 'https://start.example/check'),
  },
  { group, sent: 'of a path, below it', website: setting(['a=1; Path=/check'], '/check/below') },
  { group, sent: 'of a path, beside it', website: setting(['a=1; Path=/check'], '/checked') },
  {
    group,
    sent: 'set by a website that redirects to itself',
    website: ({ path, cookie }) => {
      if (!path.startsWith('/a/b')) return end;
      if (cookie !== '') return redirect('/in');
      return {
        status: 302,
        headers: [
          ['Location', '/a/b?q'],
          ['Set-Cookie', 'seen=1'],
        ],
      };
    },
  },
  {
    group,
    sent: 'set by a page that reloads itself',
    website: ({ path, cookie }) => {
      if (!path.startsWith('/a/b')) return end;
      return page('', [
        ['Set-Cookie', 'seen=1'],
        ['Refresh', cookie === '' ? '0' : '0;url=/in'],
      ]);
    },
  },
  {
    group,
    sent: 'set anew at each of five visits',
    website: ({ path, cookie }) => {
      if (!path.startsWith('/a/b')) return end;
      const visits = Number(/visits=(\d)/.exec(cookie)?.[1] ?? 0) + 1;
      if (visits === 5) return redirect('/in');
      return {
        status: 302,
        headers: [
          ['Location', '/a/b?q'],
          ['Set-Cookie', `visits=${visits}`],
        ],
      };
    },
  },
];
