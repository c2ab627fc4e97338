import { describe, expect, test } from 'vitest';
import { cyrillic, imitation, mixed, web } from '../../testing/links.ts';
import { readPage, scriptedApp } from '../../testing/scripted-web.ts';

const end = 'https://end.example/';
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

describe('the chain shows the first URL of each site and counts the hidden hops', () => {
  test.each([
    ['http://s.example/final', ['1', '2']],
    ['http://s.example/silent', ['1']],
    ['http://s.example/round', ['1', '2 inside', '3 inside', '2 more at s.example', '4']],
    ['http://s.example/twice', ['1', '2 inside', '1 more at s.example', '3']],
    ['http://s.example/returning', ['1', '2', '3']],
  ])('%s', async (u, expected) => {
    const { html } = await read(u);
    const lines = html.matchAll(/<li (?:value="(\d+)"( class="inside")?|class="more">([^<]*))/g);
    const shown = [...lines].map(
      ([, number = '', inside, more]) => more ?? number + (inside ? ' inside' : ''),
    );
    expect(shown).toEqual(expected);
  });
});

describe('a note shows the Unicode form of a misleading host', () => {
  const imitates =
    'Imitation: in Unicode this host is аррӏе.com. Its letters look like apple.com but are Cyrillic.';
  const mixes = 'Mixed scripts: in Unicode this host is аpple.example, which mixes Cyrillic and Latin.';

  test.each([
    [cyrillic, 'Not encrypted It leads directly', 'Punycode: in Unicode this host is пример.example.'],
    [mixed, 'Beware xn--pple-43d.example can be mistaken for apple.example', mixes],
    [imitation, 'Beware xn--80ak6aa92e.com can be mistaken for apple.com', imitates],
    ['http://xn--nobod-3qf.example/', 'Beware xn--nobod-3qf.example mixes alphabets', 'Mixed scripts'],
    [`${imitation}down`, 'Beware xn--80ak6aa92e.com can be mistaken for apple.com', imitates],
  ])('%s', async (url, verdict, note) => {
    const { result, chain, html } = await read(url);
    expect(result.startsWith(verdict)).toBe(true);
    expect(result).toContain(url);
    expect(result.split(note).length).toBe(2);
    expect(result).not.toMatch(/Not encrypted: .*(Imitation|Mixed scripts|Punycode):/);
    expect(chain).not.toContain(note);
    expect(html).toContain('<bdi class="unicode" dir="ltr">');
    expect(html).not.toMatch(/\.unicode[^}]*unicode-bidi/);
  });
});

test('a note above the buttons warns about a misleading subdomain', async () => {
  const note = 'The website is verify-login.example, not paypal.com. Page title: PayPal';
  expect((await read('s.example/disguised')).result).toContain(note);
  expect((await read('http://www.s.example/')).result).not.toContain('The website is');
});

describe('one sentence describes the chain', () => {
  test.each([
    ['301', 'leaves s.example and ends at end.example.'],
    ['1', 'leaves s.example, passes through t.example and u.example, and ends at end.example.'],
    ['far', 'leaves s.example, passes through 4 other sites and ends at end.example.'],
    ['inside', 'stays at s.example.'],
    ['returning', 'leaves s.example, passes through t.example and returns to s.example.'],
    ['broken', 'leaves s.example and leads to nobody.example.'],
    ['wrapped', 'leaves s.example, passes through google.com and ends at end.example.'],
  ])('%s: %s', async (path, sentence) => {
    expect((await read(`http://s.example/${path}`)).result).toContain(`The link ${sentence}`);
  });

  test.each([end, 'http://s.example/loop', 'http://['])('only if the chain has redirects: %s', async (u) => {
    expect((await read(u)).result).not.toContain('The link ');
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
