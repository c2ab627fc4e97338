import { describe, expect, test } from 'vitest';
import { cyrillic, imitation, long, mixed, web } from '../../testing/links.ts';
import { readPage } from '../../testing/read-page.ts';
import { scriptedApp } from '../../testing/scripted-web.ts';

const end = 'http://end.example/';
const app = scriptedApp(web);
const read = (u: string) => readPage(app, u);
const firstHop = async (u: string) => (await read(u)).hops[0];

describe('a hop tells how it leads on', () => {
  test.each([
    ['301', /301, moved permanently/],
    ['302', /302, moved temporarily/],
    ['303', /303, see another page/],
    ['307', /307, moved temporarily/],
    ['308', /308, moved permanently/],
    ['refresh', /200, OK, redirects with a Refresh header/],
    ['meta', /200, OK, redirects with a meta refresh tag/],
  ])('by %s', async (path, words) => {
    expect(await firstHop(`http://s.example/${path}`)).toMatch(words);
  });

  test('by a wrapper, which was not requested', async () => {
    const { hops } = await read('http://s.example/wrapped');
    expect(hops[1]).toContain('Wrapper: Google. Its URL contains the target, so it was not requested.');
  });
});

describe('a hop tells what was asked of it', () => {
  const read = 'beginning read';
  const refused = 'requested with GET';

  test.each([
    ['a page that was read', 'meta', [true, false]],
    ['a host that only answers GET', 'get', [false, true]],
    ['a host that answers HEAD', '301', [false, false]],
  ])('%s', async (_, path, told) => {
    const hop = await firstHop(`http://s.example/${path}`);
    expect([read, refused].map((words) => hop?.includes(words))).toEqual(told);
  });
});

test('a redirect out of https is told above the buttons, once, and only then', async () => {
  const words = 'Not encrypted: s.example redirects from https to http.';
  const { result, chain, html } = await read('https://s.example/plain');
  expect(result.indexOf(words)).toBeLessThan(result.indexOf('Open anyway'));
  expect(result.split(words).length).toBe(2);
  expect(chain).not.toContain('Not encrypted');
  expect(html).toContain('data-announcement="Not encrypted. It leads to: ');
  expect((await read('http://s.example/inside')).result).not.toContain('Not encrypted');
});

test('hops within one site are folded, in the order of the chain', async () => {
  const fold = /<details>\s*<summary>More at <bdi>(.*?)<\/bdi><\/summary>(.*?)<\/details>/gs;
  const folds = async (u: string) =>
    Array.from((await read(u)).html.matchAll(fold), ([, site, hops = '']) => [
      site,
      hops.split('<li').length - 1,
    ]);
  expect(await folds('http://s.example/final')).toEqual([]);
  expect(await folds('http://s.example/silent')).toEqual([]);
  expect(await folds('http://s.example/round')).toEqual([['s.example', 1]]);
  expect(await folds(long(0))).toEqual([['long.example', 19]]);
  const { chain } = await read('http://s.example/twice');
  expect(chain).toMatch(/twice.*More at s\.example.*301.*end\.example/);
});

describe('a host that people may take for another', () => {
  const punycode = 'Punycode: in Unicode this host is пример.example.';
  const mixing = 'Mixed scripts: in Unicode this host is аpple.example, in Cyrillic and Latin.';
  const imitating =
    'Imitation: in Unicode this host is аррӏе.com. It looks like apple.com, but its letters are different ones.';

  test.each([
    ['is shown in Punycode and in Unicode', 'http://s.example/cyrillic', cyrillic, punycode],
    ['is said to mix scripts, and which', mixed, mixed, mixing],
    ['is said to imitate which', 'http://s.example/imitation', imitation, imitating],
    [
      'is told of even if it does not answer',
      'http://s.example/nobody',
      'http://xn--nobod-3qf.example/',
      'Mixed scripts',
    ],
  ])('%s, once: %s', async (_, u, url, note) => {
    const { result, chain } = await read(u);
    for (const text of [result, chain]) expect(text).toContain(url);
    expect(result.split(note).length).toBe(2);
    expect(chain).not.toContain(note);
    expect(result.startsWith('Beware ')).toBe(note !== punycode);
  });

  test('is said to imitate another even if it cannot be reached', async () => {
    const { result } = await read(`${imitation}down`);
    expect(result).toMatch(/^Beware .*Imitation: in Unicode this host is аррӏе.com/);
  });

  test('keeps the direction of its letters, in a line that goes from left to right', async () => {
    const { html } = await read('http://s.example/cyrillic');
    expect(html).toContain('<bdi class="unicode" dir="ltr">пример.example</bdi>');
    expect(html).not.toMatch(/\.unicode[^}]*unicode-bidi/);
  });
});

describe('the way in one sentence', () => {
  test.each([
    ['http://s.example/301', 'The link leaves s.example and ends at end.example.'],
    [
      'http://s.example/1',
      'The link leaves s.example, passes t.example and u.example and ends at end.example.',
    ],
    ['http://s.example/far', 'The link leaves s.example, passes 4 other sites and ends at end.example.'],
    ['http://s.example/inside', 'The link stays at s.example.'],
    ['http://s.example/returning', 'The link leaves s.example, passes t.example and comes back there.'],
    ['http://s.example/broken', 'The link leaves s.example and leads to nobody.example.'],
    ['http://s.example/wrapped', 'The link leaves s.example, passes google.com and ends at end.example.'],
  ])('%s: %s', async (u, sentence) => {
    expect((await read(u)).result).toContain(sentence);
  });

  test.each([end, 'http://s.example/loop', 'http://['])('is not there where there is none: %s', async (u) => {
    expect((await read(u)).result).not.toContain('The link ');
  });
});

test('nothing is ever called safe', async () => {
  for (const u of ['', ...Object.keys(web)]) {
    const { html } = await read(u);
    expect(html.replace(/<style>.*?<\/style>/s, '')).not.toMatch(
      /\b(?:un)?safe|secure|trust|harmless|genuine|legitimate|malicious/i,
    );
  }
});
