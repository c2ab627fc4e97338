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
  const unencrypted = 'Not encrypted: anyone on the path can read';
  test.each(
    table(`
      s.example/final | Page found It leads to end.example https://end.example/ Open it How we got | there: s.example → end.example
      https://end.example/ | Page found It leads directly to end.example https://end.example/ Open it | How we checked it
      https://moving.example | Page found A script may redirect you from moving.example | This check does not run scripts.
      s.example/plainly | Not encrypted It leads to end.example http://end.example/ | ${unencrypted}
      http://end.example | Not encrypted It leads directly to end.example | ${unencrypted}
      https://s.example/plain | Not encrypted It leads to | s.example redirects from https to http, so
      file.example | Beware It downloads a program for Windows from file.example http: | setup.exe, 48 MB Opening a program gives it your computer. Not encrypted: a
      401.example | Blocked our check 401.example blocked our check | returned 401, sign-in required.
      s.example/closed | Blocked our check closed.example blocked our check http: | It may still open for you.
      429.example | Blocked our check | It may still open for you.
      451.example | Blocked our check | It may still open for you.
      999.example | Blocked our check | returned 999, browsers only.
      head.example | ${notWorking} head.example is not working right now | returned 404
      s.example/dead | Broken link No such page at gone.example | returned 410, removed.
      404.example | Broken link No such page at 404.example | returned 404, not found.
      418.example | Broken link 418.example rejected the request | returned 418, i
      599.example | ${notWorking} 599.example is not working right now | returned 599, an error without a common meaning.
      https://empty.example | Page found The page is empty at empty.example | returned 204
      ${long(0)} | Broken link Too many redirects: the check stopped at long.example | The limit is 19 redirects; this URL is the target
      s.example/loop | Broken link The redirects form a loop at s.example | no page can be reached
      s.example/silent | Broken link The link is broken at s.example | The 302 redirect has no target
      s.example/malformed | Broken link The link is broken http://[ | The target of the 301 redirect is not a URL
      s.example/unknown | Broken link none.example could not be found | may be misspelled, or the website may be gone.
      s.example/down | ${notWorking} down.example is not working right now | returned 503
      s.example/broken | ${notWorking} nobody.example could not be reached http: | the connection.
      late.example | ${notWorking} late.example did not respond in time | within 3 seconds. The website may be busy.
      unread.example | ${notWorking} The page could not be read from unread.example | did not send the page.
      https://partly.example | Page found It leads to partly.example | Only the first part of the page
      https://cut.example | Page found It leads to cut.example | Only part of the page could be read
      https://self.example/ | Certificate problem The certificate does not prove that this is self.example | Details DEPTH_ZERO
      https://leaf.example/ | Certificate problem The certificate chain is incomplete at leaf.example | browsers usually repair that
      s.example/mail | Opens an app It opens your mail program mailto:someone@example.com | Open it
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
    expect(html).toContain('<p class="facts">3 redirects followed before that, in 7.5 s.</p>');
  });

  test('summary() adds up the durations of the hops', () => {
    expect([1.4, 0.4, 999.7].map(duration)).toEqual(['1 ms', '', '1.0 s']);
    expect(followedIn([0.4, 0.4])).toBe('2 redirects followed.');
    expect(followedIn([1.4, 1.4, 0.4])).toBe('3 redirects followed in 3 ms.');
    expect(followedIn([40], true)).toBe('1 redirect followed in 40 ms (cached).');
  });

  test.each(
    table(`
      http://bank.example@10.0.0.1:8080/ | <span>http://bank.example@</span> | 10.0.0.1:8080 | /
      s.example/disguised | <span>https://</span><s>www.paypal.com.</s> | verify-login.example | /signin
      HTTPS://A.b.Example.co.uk?x | <span>HTTPS://A.b.</span> | Example.co.uk | ?x
      http://bank.example.b.рф./x | <span>http://bank.example.</span> | b.xn--p1ai. | /x
      http://[::1]:81/ | <span>http://</span> | [::1]:81 | /
      ${imitation} | <span>http://</span> | xn--80ak6aa92e.com | /
    `),
  )('the page highlights only the registrable domain: %s', async (u, before, domain, after) => {
    const html = (await read(u)).html.replaceAll('<wbr>', '');
    const shown = html.split('class="destination"')[1]?.split('</data>')[0] ?? '';
    const [, host = ''] = /<b>(.*?)<\/b>/.exec(shown) ?? [];
    expect(host.replace(/<.*?>/g, '')).toBe(domain);
    expect(shown).toContain(`>${before}<b>${host}</b><span>${after}</span>`);
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
  ['s.example/dead', [again('s.example/dead'), 'Open anyway (out): http://gone.example/']],
  ['s.example/down', [again('s.example/down'), 'Open anyway (out): http://down.example/']],
  ['xn--pple-43d.example', ['Open anyway (out): http://xn--pple-43d.example']],
  [long(0), [`Continue: /?${new URLSearchParams({ u: long(20) })}`, `Open anyway (out): ${long(20)}`]],
  ['s.example/mail', ['Open it (out): mailto:someone@example.com']],
  ['s.example/script', []],
  ['s.example/loop', []],
  ['401.example', ['Open anyway (out): http://401.example']],
  ['429.example', [again('429.example'), 'Open anyway (out): http://429.example']],
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
  expect((await read('s.example/mixed')).result).toMatch(/Mixed alphabets.*The page calls itself “Apple”/);
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
    expect(exact).toMatch(/class="destination">.*value="https:\/\/dot\.example\/"/);
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
