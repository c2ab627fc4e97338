import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readPage } from '../../testing/read-page.ts';
import { scriptedApp, to } from '../../testing/scripted-web.ts';
import type { Answer, Expansion } from '../expansion/expansion.ts';
import { duration, statusInWords, summary } from './wording.ts';

const long = (hop: number) => `http://long.example/${hop}`;
const app = scriptedApp({
  'http://s.example/final': to('http://end.example/'),
  'http://end.example/': {},
  'http://s.example/dead': to('http://gone.example/'),
  'http://gone.example/': { status: 410 },
  'http://s.example/down': to('http://down.example/'),
  'http://down.example/': { status: 503 },
  'http://s.example/round': to('http://s.example/back'),
  'http://s.example/back': to('http://s.example/round'),
  'http://s.example/loop': to('http://s.example/loop'),
  'http://s.example/silent': { status: 302 },
  'http://s.example/malformed': to('http://['),
  'http://s.example/mail': to('mailto:someone@example.com'),
  'http://s.example/broken': to('http://nobody.example/'),
  ...Object.fromEntries(Array.from({ length: 24 }, (_, hop) => [long(hop), to(long(hop + 1))])),
});

const read = (u: string) => readPage(app, u);

describe('every ending is told in plain words', () => {
  test.each([
    ['final', 's.example/final', 'It leads to http://end.example/', 'The last page answered 200, OK.'],
    ['a dead end', 's.example/dead', 'It leads to a page that does not exist', 'answered 410, removed.'],
    [
      'a page that fails',
      's.example/down',
      'It leads to a page that is not working just now',
      'answered 503',
    ],
    ['no redirect', 'http://end.example/', 'This link leads straight there', 'The page answered 200, OK.'],
    ['no redirect, dead', 'http://gone.example/', 'This page does not exist', 'The page answered 410'],
    ['max_redirects', long(0), 'It redirects too many times', 'The limit is 19 redirects; this URL is where'],
    ['loop', 's.example/loop', 'The redirects form a loop', 'no page can be reached'],
    [
      'no_location',
      's.example/silent',
      'The link is broken',
      'The 302 redirect does not say where it leads.',
    ],
    [
      'malformed_location',
      's.example/malformed',
      'The link is broken http://[',
      'The 301 redirect leads to something that is not a URL',
    ],
    [
      'another scheme',
      's.example/mail',
      'It does not lead to a web page mailto:someone@example.com',
      'Only web pages are followed. Answered in',
    ],
    [
      'request_failed',
      's.example/broken',
      'The link does not work http://nobody.example/',
      'refused the connection. 1 redirect before that took',
    ],
    ['invalid_url', 'http://', 'This is not a URL A short URL looks like', 'example.com/abc'],
    ['a URL that is too long', `a.example/${'x'.repeat(8_192)}`, 'This URL is too long', 'than 8192 bytes.'],
    [
      'unsupported_scheme',
      'ftp://a.example',
      'Only web addresses can be expanded',
      'URLs can be expanded, not ftp.',
    ],
  ])('%s', async (_, u, headline, explanation) => {
    const { answer } = await read(u);
    expect(answer).toMatch(new RegExp(`^${RegExp.escape(headline)}`));
    expect(answer).toContain(explanation);
  });

  test.each([
    ['where a chain goes on', long(0), `${long(20)} Not visited`],
    ['where a loop begins again', 's.example/loop', 'http://s.example/loop Visited before'],
    ['another scheme', 's.example/mail', 'mailto:someone@example.com Not a web page'],
    ['what is no URL', 's.example/malformed', 'http://[ Not a URL.'],
    ['a host that does not answer', 's.example/broken', 'http://nobody.example/ nobody.example refused'],
  ])('the chain ends with the URL that was not asked or did not answer: %s', async (_, u, stop) => {
    expect((await read(u)).chain).toContain(stop);
  });

  test('a chain that goes on can be followed further', async () => {
    expect((await read(long(0))).html).toContain(`href="/?${new URLSearchParams({ u: long(20) })}"`);
  });

  test('the redirects followed are counted and timed', async () => {
    expect((await read('s.example/final')).answer).toMatch(/1 redirect followed in \S.*\./);
    expect((await read('http://end.example/')).answer).toMatch(/ Answered in \S.*\./);
  });

  test.each([
    ['the limit', long(0), '19 redirects followed in'],
    ['a loop', 's.example/round', '1 redirect followed in'],
    ['a loop of one', 's.example/loop', 'Answered in'],
  ])('the last redirect that was found is not counted as followed: %s', async (_, u, sentence) => {
    expect((await read(u)).answer).toContain(sentence);
  });

  test('the time that was waited and the time that the redirects took do not contradict each other', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const after = (ms: number, answer: Partial<Answer>) =>
      new Promise<Partial<Answer>>((resolve) => setTimeout(resolve, ms, answer));
    const slow = scriptedApp({
      'http://a.example/': after(2_500, to('http://b.example/')),
      get 'http://b.example/'() {
        return after(2_500, to('http://c.example/'));
      },
      get 'http://c.example/'() {
        return after(2_500, to('http://d.example/'));
      },
      get 'http://d.example/'() {
        return after(2_500, {});
      },
    });
    const reading = readPage(slow, 'a.example');
    await vi.runAllTimersAsync();
    expect((await reading).answer).toContain(
      'No page was reached within 8 seconds; d.example had not answered yet. 3 redirects before that took 7.5 s.',
    );
  });

  test('what a cache remembers is said to be cached', () => {
    const hops = [{ milliseconds: 40 }] as Expansion['hops'];
    const end = { code: 'final', message: '' } as const;
    const expansion = { hops, end, longUrl: '', redirectCount: 1, error: null, cached: true, freshUntil: 0 };
    expect(summary(expansion)).toBe('1 redirect followed in 40 ms (cached).');
  });
});

describe('a hop tells', () => {
  test('its status in words beside the number, its time, its encryption and its address family', async () => {
    expect((await read('s.example/final')).chain).toMatch(
      /301, moved permanently · \S.* · not encrypted · IPv4 2?.*200, OK/,
    );
  });
});

test.each([
  [301, 'moved permanently'],
  [302, 'moved temporarily'],
  [404, 'not found'],
  [418, "i'm a teapot"],
  [599, 'unknown status'],
])('status %i in words: %s', (status, words) => {
  expect(statusInWords(status)).toBe(words);
});

test.each([
  [0.4, 'under 1 ms'],
  [41.7, '42 ms'],
  [1_250, '1.3 s'],
])('%f milliseconds for people: %s', (milliseconds, words) => {
  expect(duration(milliseconds)).toBe(words);
});
