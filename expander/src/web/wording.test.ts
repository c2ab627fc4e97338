import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { imitation, long, web } from '../../testing/links.ts';
import { readPage, scriptedApp, table, to, type Web } from '../../testing/scripted-web.ts';
import { endedExpansion } from '../expansion/chain.ts';
import type { Expansion } from '../expansion/expansion.ts';
import { duration, summary } from './wording.ts';

const app = scriptedApp(web);
const read = (u: string) => readPage(app, u);
const followedIn = (times: number[], cached = false) => {
  const end = { code: 'final', message: '' } as const;
  const hops = times.map((milliseconds) => ({ milliseconds })) as Expansion['hops'];
  return summary({ ...endedExpansion('', end, hops, times.length), cached });
};

describe('the page explains every kind of result', () => {
  const notWorking = 'Not working right now';
  const unencrypted = 'Not encrypted: strangers in the same Wi-Fi, for example, can read';
  test.each(
    table(`
      s.example/final | Page found It leads to end.example https://end.example/ Open it How we got | there: s.example → end.example
      https://end.example/ | Page found It leads directly to end.example https://end.example/ Open it | How we checked it
      https://moving.example | Not checked to the end A script may redirect you from moving.example | This check runs none, so open it only if you know moving.example.
      s.example/plainly | Not encrypted It leads to end.example http://end.example/ | ${unencrypted}
      http://end.example | Not encrypted It leads directly to end.example | ${unencrypted}
      https://s.example/plain | Not encrypted It leads to | s.example switches to a connection without encryption, so
      file.example | Beware It downloads a program for Windows from file.example http: | setup.exe, 48 MB A program can read and change everything on your computer. Not encrypted: s
      401.example | Blocked our check 401.example blocked our check | The website asks visitors to sign in.
      s.example/closed | Blocked our check closed.example blocked our check http: | It may still open for you.
      429.example | Blocked our check | It may still open for you.
      451.example | Blocked our check | It may still open for you.
      999.example | Blocked our check | The website only responds to browsers.
      head.example | ${notWorking} The page could not be read from head.example | did not send the page.
      s.example/dead | Broken link No such page at gone.example | The website has deleted the page.
      404.example | Broken link No such page at 404.example | The page does not exist.
      418.example | Broken link 418.example rejected the request | The website did not accept our request.
      599.example | ${notWorking} 599.example is not working right now | The website is out of order.
      https://empty.example | Broken link The page is empty at empty.example https: | Try it anyway
      ${long(0)} | Broken link Too many redirects: the check stopped at long.example | This link redirects again and again. “Continue” follows the next redirects.
      s.example/loop | Broken link The redirects form a loop at s.example | no page can be reached
      s.example/silent | Broken link The link is broken at s.example | The website redirects visitors, but does not say where to.
      s.example/malformed | Broken link The link is broken http://[ | redirects visitors to something that is not an address.
      s.example/unknown | Broken link none.example could not be found | may be misspelled, or the website may be gone.
      s.example/down | ${notWorking} down.example is not working right now | The website is out of order or has too many visitors
      s.example/broken | ${notWorking} nobody.example could not be reached http: | the connection.
      late.example | ${notWorking} late.example did not respond in time | within 3 seconds. The website may be busy.
      unread.example | ${notWorking} The page could not be read from unread.example | did not send the page.
      https://partly.example | Page found It leads to partly.example | Only the first part of the page
      https://cut.example | Not checked to the end It leads to cut.example | Only part of the page could be read
      https://self.example/ | Certificate problem The certificate does not prove that this is self.example | Type no password there.
      https://leaf.example/ | Certificate problem The certificate chain is incomplete at leaf.example | browsers usually repair that. The page could not be read, so a redirect in it may be missing.
      s.example/mail | Opens an app It opens your mail program: a message to someone@example.com mailto:someone@example.com | Open it
      s.example/script | Beware It does not lead to a web page javascript:alert(1) | may run code
      s.example/private | Beware It leads to a private network: 10.0.0.1 | Only links to public websites are
      a.example:1 | Beware It leads to a blocked port: a.example:1 | Websites do not use port 1.
      http://bank.example@10.0.0.1:8080/ | Beware It disguises its destination: 10.0.0.1:8080 | is not the website. The website is 10.0.0.1:8080.
      busy.example | The server is busy Too much; try again soon. | Try again
      http:// | This is not a URL A short URL looks like | example.com/abc
      a.example/${'x'.repeat(8_192)} | This URL is too long | than 8192 bytes.
      ftp://a.example | This is not a web address | URLs can be expanded, not ftp.
    `),
  )('%s: %s', async (u, headline, explanation) => {
    const { result } = await read(u);
    expect(result.slice(0, headline.length)).toBe(headline);
    expect(result).toContain(explanation);
  });

  test('only a page that opened is called unencrypted', async () => {
    for (const u of [
      'http://gone.example/',
      's.example/broken',
      's.example/private',
      '401.example',
      's.example/down',
      'http://unread.example/',
      'http://head.example/',
    ])
      expect((await read(u)).result).not.toContain('Not encrypted');
  });

  test('a first hop over http does not change the verdict', async () => {
    for (const u of ['s.example/final', 'http://s.example/final', 'end.example/up'])
      expect((await read(u)).result).not.toContain('Not encrypted');
    expect((await read('https://s.example/plain')).result.split('Not encrypted:').length).toBe(2);
    expect((await read('s.example/unknown')).result).not.toContain('Not encrypted');
  });

  test.each(
    table(`
      ${long(0)} | ${long(20)} Not visited
      s.example/loop | http://s.example/loop Visited before
      s.example/mail | mailto:someone@example.com Not a web page
      s.example/malformed | http://[ Not a URL.
      s.example/broken | http://nobody.example/ nobody.example refused
    `),
  )('the chain includes a last URL without a response: %s', async (u, stop) => {
    expect((await read(u)).chain).toContain(stop);
  });

  test('the page shows the duration of the redirects before a timeout', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const slow: Web = {};
    for (const [from, next] of ['ab', 'bc', 'cd', 'de']) {
      const respond = () =>
        new Promise((resolve) => setTimeout(resolve, 2_500, to(`http://${next}.example/`)));
      Object.defineProperty(slow, `http://${from}.example/`, { get: respond });
    }
    const reading = readPage(scriptedApp(slow), 'a.example');
    await vi.advanceTimersByTimeAsync(10_000);
    const { result, html } = await reading;
    expect(result).toContain('No page was reached within 8 seconds; d.example had not responded yet.');
    expect(html).toContain('<p class="facts">3 redirects followed before that, in 7.5\u00a0s.</p>');
  });

  test('summary() adds up the durations of the hops', () => {
    expect([1.4, 0.4, 999.7].map(duration)).toEqual(['1\u00a0ms', '', '1.0\u00a0s']);
    expect(followedIn([0.4, 0.4])).toBe('2 redirects followed.');
    expect(followedIn([1.4, 1.4, 0.4])).toBe('3 redirects followed in 3\u00a0ms.');
    expect(followedIn([40], true)).toBe('1 redirect followed in 40\u00a0ms (cached).');
  });

  test.each(
    table(`
      http://bank.example@10.0.0.1:8080/ | http://bank.example@ | 10.0.0.1:8080 | /
      s.example/disguised | https://www.paypal.com. | verify-login.example | /signin
      HTTPS://A.b.Example.co.uk?x | HTTPS://A.b. | Example.co.uk | ?x
      http://bank.example.b.рф./x | http://bank.example. | b.xn--p1ai. | /x
      http://[::1]:81/ | http:// | [::1]:81 | /
      ${imitation} | http:// | xn--80ak6aa92e.com | /
    `),
  )('the page highlights only the registrable domain: %s', async (u, before, domain, after) => {
    const html = (await read(u)).html.replaceAll('<wbr>', '');
    const shown = html.split('class="destination"')[1]?.split('</data>')[0] ?? '';
    const [, ...parts] = /<data[^>]*>(.*?)<b>(.*?)<\/b>(.*)/s.exec(shown) ?? [];
    expect(parts.map((markup) => markup.replace(/<.*?>/g, ''))).toEqual([before, domain, after]);
  });
});

/** Returns the label and target of each link in the result. */
const actions = (html: string) => {
  const [, result = ''] = html.split('<section slot="result"');
  const links = result.matchAll(/<a href="([^"]*)"( rel="noreferrer noopener nofollow")?[^>]*>([^<]*)</g);
  return [...links].map(([, href, isOut, words]) => `${words}${isOut ? ' (out)' : ''}: ${href}`);
};
const again = (u: string) => `Try again: /?${new URLSearchParams({ u, again: '1' })}`.replace('&', '&amp;');

test.each([
  ['s.example/final', ['Open it (out): https://end.example/']],
  ['s.example/dead', [again('s.example/dead'), 'Try it anyway (out): http://gone.example/']],
  ['s.example/down', [again('s.example/down'), 'Try it anyway (out): http://down.example/']],
  ['xn--pple-43d.example', ['Open anyway (out): http://xn--pple-43d.example']],
  [long(0), [`Continue: /?${new URLSearchParams({ u: long(20) })}`, `Try it anyway (out): ${long(20)}`]],
  ['s.example/mail', ['Open it (out): mailto:someone@example.com']],
  ['s.example/script', []],
  ['s.example/loop', []],
  ['401.example', ['Try it anyway (out): http://401.example']],
  ['429.example', [again('429.example'), 'Try it anyway (out): http://429.example']],
  ['s.example/unknown', [again('s.example/unknown')]],
])('the result links to the next steps: %s', async (u, expected) => {
  const { html } = await read(u);
  expect(actions(html.replace(/<footer>.*/s, ''))).toEqual(expected);
});

test('the page links to the URL without tracking before the original URL', async () => {
  const { result, html } = await read('s.example/title');
  expect(actions(html.replace(/<footer>.*/s, ''))).toEqual([
    'Open it (out): https://title.example/?id=1',
    'Open original (out): https://title.example/?id=1&amp;utm_source=mail',
  ]);
  expect(result).toContain('utm_source=mail campaign statistics');
});

test('the page title is escaped, and shown after all warnings', async () => {
  const { html } = await read('s.example/title');
  expect(html).toContain(
    '<h2 id="headline"><bdi>\u202e&lt;/bdi&gt;&lt;script&gt;hit()&lt;/script&gt; &amp; more</bdi> ',
  );
  expect((await read('s.example/mixed')).result).toMatch(/Look-alike letters.*The page calls itself “Apple”/);
});

test('the page finds a URL in pasted text unless the visitor selects "Exactly as typed"', async () => {
  const text = 'Look at <hxxps//sho[.]rt / a.>.';
  const { html, result } = await read(text);
  expect(html).toContain('Understood as <bdi class="url" dir="ltr">https://sho.rt/a</bdi>');
  expect(html).toContain('value="Look at &lt;hxxps//sho[.]rt / a.&gt;."');
  expect(result).toContain('It leads to example.com https://www.example.com');
  let exact = (await read('https://sho.rt/a.')).html;
  for (const words of ['Exactly as typed', 'Try again', 'Try again']) {
    const [, href = ''] = new RegExp(`<a href="([^"]*)">${words}<`).exec(exact) ?? [];
    exact = await (await app.request(href.replaceAll('&amp;', '&'))).text();
    expect(exact).toMatch(/class="destination">\s*.*value="https:\/\/dot\.example\/"/);
    expect(exact).not.toContain('id="understood"');
  }
});

test('the API does not search `u` for a URL', async () => {
  expect((await read('https://sho.rt/a')).html).not.toContain('id="understood"');
  expect(await (await app.request('/api?u=https://sho.rt/a.')).text()).toBe('https://dot.example/');
});

test.each([
  ['307', 'HEAD returned 307, which is followed only with follow=all.'],
  ['get', 'HEAD returned 200.'],
])('/api/chain explains why a chain without follow=all ended at %s', async (path, message) => {
  const response = await app.request(`/api/chain?u=http://s.example/${path}`);
  expect(await response.json()).toMatchObject({ end: { code: 'final', message } });
});
