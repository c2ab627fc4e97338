import { describe, expect, test } from 'vitest';
import { readPage } from '../../testing/read-page.ts';
import { scriptedApp, to } from '../../testing/scripted-web.ts';
import { duration, statusInWords } from './wording.ts';

const long = (hop: number) => `http://long.example/${hop}`;
const app = scriptedApp({
  'http://s.example/final': to('http://end.example/'),
  'http://end.example/': {},
  'http://s.example/dead': to('http://gone.example/'),
  'http://gone.example/': { status: 410 },
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
    ['a dead end', 's.example/dead', 'It leads to', 'answered 410, removed.'],
    ['no redirect', 'http://end.example/', 'This link is not redirected', 'The page answered 200, OK.'],
    ['max_redirects', long(0), 'There are more redirects', 'more than 19 redirects'],
    ['loop', 's.example/loop', 'The redirects form a loop', 'no page can be reached'],
    ['no_location', 's.example/silent', 'The link is broken', 'has no location'],
    ['malformed_location', 's.example/malformed', 'The link is broken http://[', 'not a URL'],
    [
      'another scheme',
      's.example/mail',
      'It leads to something other than a web page mailto:someone@example.com',
      'mailto:',
    ],
    ['request_failed', 's.example/broken', 'No answer http://nobody.example/', 'refused the connection.'],
    ['invalid_url', 'http://', 'This is not a URL', 'A short URL looks like'],
    ['unsupported_scheme', 'ftp://a.example', 'Only web addresses can be expanded', 'not ftp:'],
  ])('%s: %s', async (_, u, headline, explanation) => {
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
    expect((await read(long(0))).answer).toMatch(/20 redirects followed/);
    expect((await read('http://end.example/')).answer).toMatch(/No redirect followed/);
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
