import { describe, expect, test } from 'vitest';
import { readDocument } from './html-document.ts';
import { readHtml } from './meta-refresh.ts';

const url = new URL('http://a.example/x/y?q');
const meta = (content: string) => `<meta http-equiv="refresh" content="${content}">`;
const readPage = (body: string, headers = {}) => {
  const head = { status: 200, headers: { 'content-type': 'text/html', ...headers } };
  return readDocument(url, head, Buffer.from(body, 'latin1'));
};
const refreshOf = (...page: Parameters<typeof readPage>) => readPage(...page).refresh;

// browsers.browser.test.ts tests more pages.
describe('a page redirects', () => {
  test('if its refresh delay is at most 15 s', () => {
    expect(refreshOf(meta('15;url=/m'))).toEqual({ kind: 'meta', url: 'http://a.example/m' });
    expect(refreshOf(meta('15.1;url=/m'))).toBeNull();
  });

  const sandbox = { 'content-security-policy': "default-src 'self'; sandbox allow-forms" };
  const tooLong = `//${'a'.repeat(254)}`;
  test.each([
    ['to a malformed URL', meta('0;url=http://['), {}],
    ['relative to a host that is too long', `<base href="${tooLong}">${meta('0;url=m')}`, {}],
    ['to a host that is too long', meta(`0;url=${tooLong}`), {}],
    ['in a sandbox without scripts', meta('0;url=/m'), sandbox],
  ])('but not %s', (_, body, headers) => {
    expect(refreshOf(body, headers)).toBeNull();
  });
});

describe('a page title', () => {
  const title = (text: string, headers = {}) => readPage(`<title>${text}</title>`, headers).title;
  const utf8 = (text: string) => Buffer.from(text).toString('latin1');
  const inUtf8 = { 'content-type': 'text/html; charset=utf-8' };

  test.each([
    ['has no control characters', '\n A\t page\r\n&nbsp;of &#27;[31m ours ', {}, 'A page of [31m ours'],
    ['uses the charset of the Content-Type', '\xcf', { 'content-type': 'text/html;charset="cp1251"' }, 'П'],
    ['may have 120 characters', utf8('😀'.repeat(120)), inUtf8, '😀'.repeat(120)],
    ['is truncated between characters', utf8('😀'.repeat(30_000)), inUtf8, `${'😀'.repeat(119)}…`],
    ['may be in XHTML', 'a &amp; b', { 'content-type': 'application/xhtml+xml' }, 'a & b'],
    ['may be in a sandbox', 'A page', { 'content-security-policy': 'sandbox' }, 'A page'],
    ['is null if it is blank', ' \n &nbsp; ', {}, null],
    ['is null for plain text', 'A page', { 'content-type': 'text/plain' }, null],
    ['is null for a file', 'A page', { 'content-disposition': 'attachment' }, null],
  ])('%s', (_, text, headers, expected) => expect(title(text, headers)).toBe(expected));

  test.each([
    ['is the first title', '<title>One</title><title>Two</title>', 'One'],
    ['is not the title of an SVG', '<svg><title>Picture</title></svg><title>Page</title>', 'Page'],
    ['is not inside a template', '<template><title>a</title></template><title>b</title>', 'b'],
    ['may contain markup as text', '<title><b></b> &lt;b> &amp;</title>', '<b></b> <b> &'],
    ['may be in the body', '<body><p>Text<title>Late</title>', 'Late'],
    ['is null if the first title is empty', '<title></title><title>Two</title>', null],
    ['is not inside a comment', '<!-- <title>x</title> -->', null],
  ])('%s', (_, markup, title) => expect(readHtml(markup).title).toBe(title));
});

describe('markup whose tree would take gigabytes', () => {
  const size = 64 * 1024;
  const bold = (count: number) => Array.from({ length: count }, (_, i) => `<b ${i}>`).join('');

  test.each([
    ['nested elements', '<div>'.repeat(size / 5)],
    // Every paragraph repeats all open <b> elements.
    ['formatting elements', `${bold(100)}${'<p>x'.repeat(size / 4)}`],
    ['more formatting elements', `${bold(4_000)}${'<p>x'.repeat(8_000)}`],
    ['formatting elements in tables', '<table><b>'.repeat(size / 10)],
    ['templates', '<template>'.repeat(size / 10)],
  ])('is parsed up to a limit: %s', (_, markup) => {
    expect(readHtml(meta('0;url=/m') + markup + meta('0;url=/m')).refreshes).toHaveLength(1);
  });
});

const words = 'word '.repeat(50);
const mayRedirect = (markup: string) => readPage(markup).scriptRedirect;

test.each([
  ['window.location="x"', 'document . location . replace("x")'],
  ['const a = "{"; // {\n self.location.assign(a)', 'if (a) location\n= b'],
])('detects a possible redirect in the scripts %s and %s on a page with text', (...scripts) => {
  for (const script of scripts)
    expect(mayRedirect(`${words}<script>a()</script><script>${script}</script>`)).toBe(true);
});

test.each([
  'link.location = 1; mylocation = 1',
  'location == 1; location.hash = 1; a = location.href',
  '/* location = 1',
])('ignores the script %s on a page with text', (script) =>
  expect(mayRedirect(`${words}<script>${script}</script>`)).toBe(false),
);

describe('everything that runs on an almost empty page may redirect', () => {
  const run = '<script src="/a.js"></script>';
  test.each([
    ...[
      run,
      '<script type=module src=a.js></script>',
      '<script>eval(atob("bG9j"))</script>',
      '<script>a = 1</script>',
    ],
    ...[
      '<iframe src=/a></iframe>',
      '<frameset><frame src=/a>',
      '<object data=/a></object>',
      '<embed src=/a>',
    ],
    ...[
      '<body onload="go()">',
      '<svg><script href=a.js /></svg>',
      '<svg onload="go()">',
      '<math><mi onclick="go()">',
    ],
    ...[`<p hidden>${words}</p>${run}`, `<div style="color:red; display : none"><p>${words}</div>${run}`],
    ...[`<p style="visibility:hidden">${words}</p>${run}`, `<p style="opacity:0">${words}</p>${run}`],
    ...[`<p style="font-size:0px">${words}</p>${run}`, `<template><p>${words}</template>${run}`],
    ...[
      `<noscript>${words}</noscript>${run}`,
      `<video>${words}</video>${run}`,
      `<svg><desc>${words}</desc></svg>${run}`,
    ],
  ])('%s', (markup) => {
    expect(mayRedirect(`<!doctype html>${markup}`)).toBe(true);
    expect(mayRedirect(`<!doctype html>${markup}</svg></math></frameset><p>${words}`)).toBe(
      markup.includes('frameset'),
    );
  });

  test('also a style sheet of XML', () => {
    const xml = (sheet: string) =>
      readPage(`<?xml version="1.0"?><?xml-stylesheet ${sheet}?><a/>`, { 'content-type': 'text/xml' })
        .scriptRedirect;
    expect([xml('type="text/xsl" href="a.xsl"'), xml('type="text/css" href="a.css"')]).toEqual([true, false]);
    expect(mayRedirect('<?xml-stylesheet type="text/xsl" href="a.xsl"?>')).toBe(false);
  });

  test.each([
    '<p style="opacity:0.5">a</p>',
    '<script type="application/json">{}</script>',
    '<template><script>go()</script></template>',
    '<textarea><script>go()</script></textarea>',
    '<a href="javascript:go()">a</a>',
  ])('but not %s', (markup) => {
    expect(mayRedirect(markup)).toBe(false);
  });
});

test('text that a style hides only in part is visible', () => {
  expect(mayRedirect(`<p style="opacity:0.9;font-size:0.8em">${words}</p><script src=a.js></script>`)).toBe(
    false,
  );
});

describe('a refresh after more than 15 s', () => {
  const later = (...page: Parameters<typeof readPage>) => readPage(...page).later;

  test.each([
    ['a meta element', meta('30; url=/m'), {}, { seconds: 30, url: 'http://a.example/m' }],
    ['a header', '', { refresh: '16.5; url=//b.example/' }, { seconds: 16.5, url: 'http://b.example/' }],
    [
      'the shortest delay',
      meta('60;url=/a') + meta('20;url=/b'),
      {},
      { seconds: 20, url: 'http://a.example/b' },
    ],
    ['the page itself', meta('300'), {}, { seconds: 300, url: '' }],
    ['an earlier refresh', meta('60;url=/a') + meta('2;url=/b'), {}, null],
    ['a delay over a day', meta('1e9;url=/a') + meta('90000;url=/b'), {}, null],
  ])('is told: %s', (_, body, headers, expected) => {
    expect(later(body, headers)).toEqual(expected);
  });
});

test('a page with 200 visible characters has enough text to read', () => {
  const page = (count: number) => `<style>${words}</style>${'x '.repeat(count)}<script>a.click()</script>`;
  expect([mayRedirect(page(199)), mayRedirect(page(200))]).toEqual([true, false]);
});
