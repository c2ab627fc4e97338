import { words } from '../pieces.ts';
import { end, first, type Link, ofLines, ofReplies, ofWebsites, page, redirect } from './link.ts';
import { meta, refresh } from './pages.ts';
import type { Reply, Website } from './stage.ts';

const policy = (value: string) => ['Content-Security-Policy', value] as const;

const pages: Link[] = [
  ...ofLines('policies.txt', (value) => page(`<base href="/b/">${meta('0;url=m')}`, [policy(value)])),
  ...ofReplies('Content-Security-Policy: a page with <base> of another website', {
    "base-uri 'self'": page(`<base href="http://other.example/">${meta('0;url=m')}`, [
      policy("base-uri 'self'"),
    ]),
    'base-uri *.other.example': page(`<base href="http://www.other.example/">${meta('0;url=m')}`, [
      policy('base-uri *.other.example'),
    ]),
    'two <base>': page(`<base href="http://other.example/"><base href="/b/">${meta('0;url=m')}`, [
      policy("base-uri 'self'"),
    ]),
  }),
  ...ofReplies('Content-Security-Policy: other headers', {
    'Report-Only': page(`<base href="/b/">${meta('0;url=m')}`, [
      ['Content-Security-Policy-Report-Only', "base-uri 'none'; sandbox"],
    ]),
    'two headers': page(`<base href="/b/">${meta('0;url=m')}`, [
      policy("base-uri 'self'"),
      policy("base-uri 'none'"),
    ]),
    'Refresh in a sandbox': page('', [refresh('0;url=/m'), policy('sandbox')]),
  }),
];

/** A page at https with a refresh to each URL. */
const upgradedTo = words`
  http://start.example/x http://START.example:80/x http://start.example:8080/x http://www.start.example/x
  http://other.example/x /x
`;

const upgrading = (value: string, target: string, header = false): Website =>
  atHttps(
    header
      ? page('', [policy(value), refresh(`0;url=${target}`)])
      : page(meta(`0;url=${target}`), [policy(value)]),
  );

function atHttps(reply: Reply): Website {
  return ({ encrypted, path }) => {
    if (path.startsWith('/x')) return end;
    return encrypted ? reply : redirect('https://start.example/page');
  };
}

const upgrade = 'upgrade-insecure-requests';
const upgrades: Link[] = ofWebsites('upgrade-insecure-requests', {
  ...Object.fromEntries(upgradedTo.map((target) => [`meta to ${target}`, upgrading(upgrade, target)])),
  'header to http://start.example/x': upgrading(upgrade, 'http://start.example/x', true),
  'among others': upgrading(
    `default-src *; ${upgrade.toUpperCase()}; sandbox allow-scripts`,
    'http://start.example/x',
  ),
  'Location of the page that redirects': atHttps({
    ...redirect('http://start.example/x'),
    headers: [['Location', 'http://start.example/x'], policy(upgrade)],
  }),
  'at http': first(page(meta('0;url=http://start.example/x'), [policy(upgrade)])),
  'then another page': ({ encrypted, path }) => {
    if (path === '/x') return encrypted ? page(meta('0;url=http://start.example/y')) : end;
    if (path === '/y') return end;
    if (!encrypted) return redirect('https://start.example/page');
    return page(meta('0;url=http://start.example/x'), [policy(upgrade)]);
  },
  'a redirect of the target to http': ({ encrypted, path }) => {
    if (path === '/y') return end;
    if (path === '/x') return redirect('http://start.example/y');
    if (!encrypted) return redirect('https://start.example/page');
    return page(meta('0;url=https://start.example/x'), [policy(upgrade)]);
  },
  'at http, without a URL': ({ encrypted }) => (encrypted ? end : page('', [policy(upgrade), refresh('0')])),
  'a redirect of the target at another website': ({ encrypted, path, host }) => {
    if (path === '/y' || host === 'other.example')
      return path === '/y' ? end : redirect('http://start.example/y');
    if (!encrypted) return redirect('https://start.example/page');
    return page(meta('0;url=https://other.example/x'), [policy(upgrade)]);
  },
});

/** Links to pages with policies. */
export const policyLinks: readonly Link[] = [...pages, ...upgrades];
