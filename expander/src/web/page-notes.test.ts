import { describe, expect, test } from 'vitest';
import { cyrillic, imitation, long, mixed, web } from '../../testing/links.ts';
import { readPage } from '../../testing/read-page.ts';
import { scriptedApp } from '../../testing/scripted-web.ts';

const end = 'https://end.example/';
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
    ['meta', /200, OK \(first part read\), redirects with a meta refresh tag/],
  ])('by %s', async (path, words) => {
    expect(await firstHop(`http://s.example/${path}`)).toMatch(words);
  });

  test('by a wrapper, which was not requested', async () => {
    const { hops } = await read('http://s.example/wrapped');
    expect(hops[1]).toContain('Wrapper: Google. Its URL contains the target, so it was not requested.');
  });
});

test('a hop says that it was requested with GET, unless a page was read', async () => {
  expect(await firstHop('http://s.example/get')).toContain('requested with GET');
  for (const path of ['meta', '301']) expect(await firstHop(`http://s.example/${path}`)).not.toContain('GET');
  expect(await firstHop('http://s.example/301')).not.toContain('read');
});

test('a redirect out of https is reported above the buttons, not in the chain', async () => {
  const { result, chain, html } = await read('https://s.example/plain');
  expect(result.indexOf('Not encrypted:')).toBeLessThan(result.indexOf('Open anyway'));
  expect(chain).not.toContain('Not encrypted');
  expect(html).toContain('data-announcement="Not encrypted. It leads to: s.example');
});

describe('the chain has one line for each site and one for its end; the rest is hidden, and counted', () => {
  test.each([
    ['http://s.example/final', ['1', '2']],
    ['http://s.example/silent', ['1']],
    ['http://s.example/round', ['1', '2 inside', '1 more at s.example', '3']],
    ['http://s.example/twice', ['1', '2 inside', '1 more at s.example', '3']],
    ['http://s.example/returning', ['1', '2', '3']],
    [
      long(0),
      ['1', ...Array.from({ length: 19 }, (_, at) => `${at + 2} inside`), '19 more at long.example', '21'],
    ],
  ])('%s', async (u, expected) => {
    const { html } = await read(u);
    const lines = html.matchAll(/<li (?:value="(\d+)"( class="inside")?|class="more">([^<]*))/g);
    expect(
      [...lines].map(([, number = '', inside, more]) => more ?? number + (inside ? ' inside' : '')),
    ).toEqual(expected);
  });
});

describe('a host that people may take for another', () => {
  const punycode = 'Punycode: in Unicode this host is пример.example.';
  const mixing = 'Mixed scripts: in Unicode this host is аpple.example, in Cyrillic and Latin.';
  const imitating =
    'Imitation: in Unicode this host is аррӏе.com. It can be mistaken for apple.com, which has other letters.';

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
      'The link leaves s.example, passes t.example and u.example, and ends at end.example.',
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
