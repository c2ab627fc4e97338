import { end, type Link, ofWebsites, page, redirect } from './link.ts';
import { meta } from './pages.ts';
import type { ReceivedRequest, Reply, Website } from './stage.ts';

/** Creates websites from their responses by host and path. All other pages end the chain. */
const websites =
  (replies: Record<string, Reply | ((request: ReceivedRequest) => Reply)>): Website =>
  (request) => {
    const reply = replies[request.host + request.path] ?? end;
    return typeof reply === 'function' ? reply(request) : reply;
  };

const first = 'start.example/a/b?q';
const target = 'http://target.example/article?utm_source=x&id=1#part-2';
const inQuery = encodeURIComponent(target);
const article = page('<title>An article</title>');
const settingCookies = (location: string, ...cookies: string[]): Reply => ({
  status: 302,
  headers: [['Location', location], ...cookies.map((cookie) => ['Set-Cookie', cookie] as const)],
});

/** What well-known shorteners, shops, mail scanners, logins and bot checks send. */
export const wellKnownLinks: Link[] = [
  ...ofWebsites('Well-known websites', {
    'a bot check with status 403 that reloads after 6 minutes': websites({
      [first]: { ...page(meta('360'), [['cf-mitigated', 'challenge']]), status: 403 },
    }),
    'a waiting room with status 503 that reloads after 5 s': websites({
      [first]: { ...page(meta('5')), status: 503 },
    }),
    'a shop that redirects to a language and back, with a cookie': websites({
      [first]: ({ cookie }) =>
        cookie
          ? article
          : settingCookies('/de-de/a', 'localization=DE; path=/; SameSite=Lax', 'currency=EUR'),
      'start.example/de-de/a': ({ cookie }) => redirect(cookie ? '/a/b?q' : '/no-cookie'),
    }),
    'a mail scanner that has the target in its query': websites({
      [first]: redirect(`http://scan.example/?url=${inQuery}&data=05%7C02%7C&sdata=x%3D&reserved=0`),
      [`scan.example/?url=${inQuery}&data=05%7C02%7C&sdata=x%3D&reserved=0`]: redirect(target),
    }),
    'a warning page with a link': websites({
      [first]: page(`<h1>External link</h1><a href="${target}">Go</a>`),
    }),
    'a warning page that goes on after 5 s': websites({ [first]: page(meta(`5; url=${target}`)) }),
    'a link to an app with a fallback URL': websites({
      [first]: redirect(`intent://open#Intent;scheme=app;S.browser_fallback_url=${inQuery};end;`),
    }),
    'a video behind a consent page': websites({
      [first]: redirect('http://watch.example/watch?v=x', 303),
      'watch.example/watch?v=x': redirect(
        'http://consent.example/m?continue=http%3A%2F%2Fwatch.example%2F&gl=DE',
      ),
    }),
    'http, then www, then https': websites({
      [first]: redirect('http://www.start.example/a/b?q', 301),
      'www.start.example/a/b?q': ({ encrypted }) =>
        encrypted ? article : redirect('https://www.start.example/a/b?q', 301),
    }),
    'a subdomain of a website with HSTS': websites({
      [first]: redirect('https://secure.example/'),
      'secure.example/': {
        status: 301,
        headers: [
          ['Strict-Transport-Security', 'max-age=63072000; includeSubDomains; preload'],
          ['Location', 'http://m.secure.example/x'],
        ],
      },
    }),
    'a login as a guest that returns to the link': websites({
      [first]: ({ cookie }) => (cookie ? article : redirect('http://login.example/?next=%2Fa%2Fb%3Fq')),
      'login.example/?next=%2Fa%2Fb%3Fq': settingCookies(
        'http://start.example/set',
        'sso=1; Domain=login.example',
      ),
      'start.example/set': settingCookies('/a/b?q', 'guest=1; HttpOnly'),
    }),
    'a rate limit with Retry-After and a meta refresh': websites({
      [first]: { ...page(meta('1; url=/x'), [['Retry-After', '1']]), status: 429 },
    }),
    'an AMP page with a canonical link': websites({
      [first]: page(`<html amp><link rel="canonical" href="${target}"><p>Text`),
    }),
    'a domain forwarder with a frame': websites({
      [first]: page(
        `<frameset rows="100%,*"><frame src="${target}"><noframes>${target}</noframes></frameset>`,
      ),
    }),
  }),
  ...ofWebsites('Well-known websites', {
    'a meta refresh in <noscript>, and a script': websites({
      [first]: page(
        `<noscript>${meta(`0;URL=${target}`)}</noscript><title>${target}</title><script>location.replace("${target}")</script>`,
      ),
    }),
    'a form that submits itself': websites({
      [first]: page('<body onload="document.forms[0].submit()"><form method="post" action="/acs"></form>'),
    }),
  }).map((link): Link => ({ ...link, compares: 'script' })),
];
