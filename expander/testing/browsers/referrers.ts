import { words } from '../pieces.ts';
import { end, type Link, ofWebsites, page, redirect } from './link.ts';
import { meta, refresh } from './pages.ts';
import type { Reply, Website } from './stage.ts';

/** A website whose first page is `reply`. Its other pages redirect to a URL with the received `Referer`. */
const showing =
  (first: Reply, others: Record<string, Reply> = {}): Website =>
  ({ path, referer }) => {
    if (path.startsWith('/a/b')) return first;
    if (path.startsWith('/sent')) return end;
    return others[path] ?? redirect(`/sent?${encodeURIComponent(referer)}`);
  };

const policy = (value: string) => ['Referrer-Policy', value] as const;
const policies = words`
  no-referrer no-referrer-when-downgrade same-origin origin strict-origin origin-when-cross-origin
  strict-origin-when-cross-origin unsafe-url
`;
const here = meta('0;url=/check');
const away = meta('0;url=http://other.example/check');
const toHttps = meta('0;url=https://start.example/check');

/** Links to pages whose refresh leads to a page that depends on the `Referer`. */
export const referrerLinks: readonly Link[] = ofWebsites('Referer', {
  'a redirect': showing(redirect('/check')),
  'a meta refresh': showing(page(here)),
  'a Refresh': showing(page('', [refresh('0;url=/check')])),
  'a refresh to another website': showing(page(away)),
  'a refresh to https': showing(page(toHttps)),
  'a refresh, then a redirect': showing(page(meta('0;url=/go')), { '/go': redirect('/check') }),
  'a refresh, then a redirect to another website': showing(page(meta('0;url=/go')), {
    '/go': redirect('http://other.example/check'),
  }),
  'a refresh to another website, which redirects back': showing(page(meta('0;url=http://other.example/go')), {
    '/go': redirect('http://start.example/check'),
  }),
  'a refresh, then another': showing(page(meta('0;url=/go?x#y')), { '/go?x': page(here) }),
  'a redirect to a page with a refresh': showing(redirect('/go'), { '/go': page(away) }),
  'a refresh with a policy, then a redirect with another': showing(
    page(meta('0;url=/go'), [policy('unsafe-url')]),
    {
      '/go': {
        ...redirect('http://other.example/check'),
        headers: [['Location', 'http://other.example/check'], policy('no-referrer')],
      },
    },
  ),
  'a refresh, then a redirect with a wider policy': showing(page(meta('0;url=http://other.example/go')), {
    '/go': { ...redirect('/check'), headers: [['Location', '/check'], policy('unsafe-url')] },
  }),
  ...Object.fromEntries(
    policies.flatMap((name) => [
      [`${name}, to the same website`, showing(page(here, [policy(name)]))],
      [`${name}, to another website`, showing(page(away, [policy(name)]))],
      [`${name}, by <meta>`, showing(page(`<meta name=referrer content=${name}>${away}`))],
    ]),
  ),
  ...Object.fromEntries(
    ['never', 'default', 'always', 'origin-when-crossorigin', 'NO-REFERRER', 'x'].map((name) => [
      `<meta name=referrer content=${name}>`,
      showing(page(`<meta name=referrer content=${name}>${away}`)),
    ]),
  ),
  '<meta name=referrer> below the refresh': showing(page(`${away}<meta name=referrer content=no-referrer>`)),
  '<meta name=referrer> twice': showing(
    page(`<meta name=referrer content=no-referrer><meta name=referrer content=unsafe-url>${away}`),
  ),
  '<meta name=referrer> and a header': showing(
    page(`<meta name=referrer content=unsafe-url>${away}`, [policy('no-referrer')]),
  ),
  'a list of policies': showing(page(away, [policy('unsafe-url, no-referrer, x')])),
  'an unknown policy': showing(page(away, [policy('x')])),
  'an empty policy': showing(page(away, [policy('')])),
});
