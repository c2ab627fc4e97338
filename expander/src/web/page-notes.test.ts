import { describe, expect, test } from 'vitest';
import { cyrillic, imitation, web as links, mixed } from '../../testing/links.ts';
import { readPage, scriptedApp, to, type Web } from '../../testing/scripted-web.ts';

const end = 'https://end.example/';
const web: Web = {
  ...links,
  'http://s.example/titled': to('https://news.example/walk'),
  'https://news.example/walk': { title: 'A walk' },
  ...Object.fromEntries(
    Array.from({ length: 8 }, (_, n) => [
      `http://m${n}.example/`,
      to(n < 7 ? `http://m${n + 1}.example/` : end),
    ]),
  ),
};
const read = (u: string) => readPage(scriptedApp(web), u);

describe('a hop shows its URL, response and duration', () => {
  test.each([
    'http://s.example/301 301, moved permanently',
    'http://s.example/302 302, moved temporarily',
    'http://s.example/303 303, see another page',
    'http://s.example/307 307, moved temporarily',
    'http://s.example/308 308, moved permanently',
    'http://s.example/refresh 200, OK, redirects with a Refresh header',
    'http://s.example/meta 200, OK (first part read), redirects with a meta refresh tag',
    'http://s.example/get 301, moved permanently, requested with GET',
    'https://end.example/ 200, OK',
  ])('%s', async (words) => {
    const { hops } = await read(words.split(' ')[0] ?? '');
    expect(hops[0]).toMatch(new RegExp(`^${RegExp.escape(words)}(?:, \\d+ ms)?$`));
  });

  test('the page shows a note instead of a response for a wrapper', async () => {
    expect((await read('http://s.example/wrapped')).hops[1]).toContain('Wrapper: Google. Its URL contains');
  });
});

test('the note about a redirect from https to http is above the buttons', async () => {
  const { result, chain, html } = await read('https://s.example/plain');
  expect(result.indexOf('Not encrypted:')).toBeLessThan(result.indexOf('Open anyway'));
  expect(chain).not.toContain('Not encrypted');
  expect(html).toContain('data-announcement="Not encrypted. It leads to s.example');
});

describe('one line names the hosts of the chain', () => {
  test.each([
    ['301', 's.example → end.example'],
    ['1', 's.example → t.example → u.example → end.example'],
    ['far', 's.example → a1.example → a2.example → a3.example → a4.example → end.example'],
    ['twice', 's.example → end.example'],
    ['inside', 's.example → www.s.example'],
    ['returning', 's.example → t.example → www.s.example'],
    ['broken', 's.example → nobody.example'],
    ['wrapped', 's.example → www.google.com → end.example'],
    ['mail', 's.example → your mail program'],
    ['script', 's.example → a script'],
    ['scheme', 's.example → something else than a web page'],
    ['many', 'm0.example → m1.example → 4 more → m6.example → m7.example → end.example'],
  ])('%s: %s', async (path, hosts) => {
    const { result } = await read(path === 'many' ? 'm0.example' : `http://s.example/${path}`);
    expect(result.endsWith(`How we got there: ${hosts}`)).toBe(true);
  });

  test.each([end, 'http://s.example/loop'])('only if there are several: %s', async (u) => {
    expect((await read(u)).result.endsWith('How we checked it')).toBe(true);
  });

  test('but not without a chain', async () => {
    expect((await read('http://[')).result).not.toContain('How we');
  });
});

describe('a note shows the Unicode form of a misleading host', () => {
  const imitates = 'Look-alike letters: the letters of аррӏе.com look like apple.com but are Cyrillic.';
  const mixes =
    'Look-alike letters: people read the name as аpple.example. It mixes letters of several alphabets (Cyrillic and Latin), which can look the same.';

  test.each([
    [mixed, 'Beware This is not apple.example. It leads to a look-alike: xn--pple-43d.example', mixes],
    [imitation, 'Beware This is not Apple. It leads to a look-alike: xn--80ak6aa92e.com', imitates],
    [
      'http://xn--nobod-3qf.example/',
      'Beware It mixes letters of several alphabets: xn--nobod-3qf.example',
      'mixes letters of several alphabets (',
    ],
    [`${imitation}down`, 'Beware This is not Apple. It leads to a look-alike: xn--80ak6aa92e.com', imitates],
  ])('%s', async (url, verdict, note) => {
    const { result, chain, html } = await read(url);
    expect(result.replace('.It', '. It')).toMatch(RegExp(`^${RegExp.escape(verdict)}`));
    expect(result).toContain(url);
    expect(result.split(note).length).toBe(2);
    expect(result).not.toContain('Not encrypted');
    expect(chain).not.toContain(note);
    expect(html).toContain('<bdi class="unicode" dir="ltr">');
    expect(html).not.toMatch(/\.unicode[^}]*unicode-bidi/);
  });
});

describe('a name that people can read and that imitates nobody is shown as they write it', () => {
  test.each([
    [
      'http://xn--mller-kva.de/',
      'It leads directly to müller.de As computers write it: http://xn--mller-kva.de/',
    ],
    [
      'http://xn--mgbh0fb.xn--kgbechtv/',
      'It leads directly to مثال.إختبار As computers write it: http://xn--mgbh0fb.xn--kgbechtv/',
    ],
    [cyrillic, `It leads directly to пример.example As computers write it: ${cyrillic}`],
  ])('%s', async (url, headline) => {
    const { result, html } = await readPage(scriptedApp({ [url]: {} }), url);
    expect(result).toContain(headline);
    expect(html).not.toMatch(/Punycode|class="note"><strong>(?!Not encrypted)/);
  });
});

describe('the ordinary result is quiet', () => {
  test('the title is the headline, and the host is below it', async () => {
    const { html, result } = await read('s.example/titled');
    expect(html).toMatch(
      /<h2 id="headline"><bdi>A walk<\/bdi> <bdi class="site" dir="ltr"><span>news<\/span><wbr><span>.example<\/span><\/bdi><\/h2>/,
    );
    expect(result).toBe(
      'Page found A walk news.example https://news.example/walk Open it How we got there: s.example → news.example',
    );
  });

  test('one line counts the tracking parameters', async () => {
    expect((await read('s.example/title')).result).toMatch(
      /Open it Opens without a part that only helps to track you. Show the original/,
    );
  });

  test('a warning has the title below it', async () => {
    expect((await read('s.example/disguised')).result).toMatch(
      /^Beware This is not .*The page calls itself “PayPal”/,
    );
  });
});

test('the page never judges whether a link is safe', async () => {
  for (const u of ['', ...Object.keys(web)]) {
    const { html } = await read(u);
    expect(html.replace(/<style>.*?<\/style>/s, '')).not.toMatch(
      /\b(?:un)?safe|secure|trust|harmless|genuine|legitimate|malicious/i,
    );
  }
});
