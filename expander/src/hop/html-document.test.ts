import { describe, expect, test } from 'vitest';
import { readDocument } from './html-document.ts';
import { readHtml } from './meta-refresh.ts';

const url = new URL('http://a.example/x/y?q');
const meta = (content: string) => `<meta http-equiv="refresh" content="${content}">`;
const head = (headers: Record<string, string> = {}, status = 200) => ({
  status,
  headers: { 'content-type': 'text/html', ...headers },
});
const readWhole = (body: string, headers = {}, status = 200) =>
  readDocument(url, head(headers, status), Buffer.from(body, 'latin1'));
const read = (...page: Parameters<typeof readWhole>) => readWhole(...page).refresh;

// Where Chromium goes from pages is in browsers.browser.test.ts.
describe('a page leads', () => {
  test('somewhere after 15 s at most', () => {
    expect(read(meta('15;url=/m'))).toEqual({ kind: 'meta', url: 'http://a.example/m' });
    expect(read(meta('15.1;url=/m'))).toBeNull();
  });

  test.each([
    ['to a script', meta('0;url=javascript:alert(1)'), {}],
    ['to what is no URL', meta('0;url=http://['), {}],
    [
      'to what is relative to a host that is too long',
      `<base href="//${'a'.repeat(254)}">${meta('0;url=m')}`,
      {},
    ],
    ['to a host that is too long', meta(`0;url=//${'a'.repeat(254)}`), {}],
    ['if it is a file to save', '', { refresh: '0;url=/m', 'content-disposition': 'attachment; filename=x' }],
    [
      'if it is of no type that is shown',
      '',
      { refresh: '0;url=/m', 'content-type': 'application/octet-stream' },
    ],
    [
      'if it is in a sandbox without scripts',
      meta('0;url=/m'),
      { 'content-security-policy': "default-src 'self'; sandbox allow-forms" },
    ],
  ])('nowhere %s', (_, body, headers) => {
    expect(read(body, headers)).toBeNull();
  });

  test.each([204, 205, 304])('nowhere if a browser stays where it is: %i', (status) => {
    expect(read('', { refresh: '0;url=/m' }, status)).toBeNull();
  });
});

describe('the title of a page', () => {
  const title = (text: string, headers = {}) => readWhole(`<title>${text}</title>`, headers).title;
  const utf8 = (text: string) => Buffer.from(text).toString('latin1');
  const inUtf8 = { 'content-type': 'text/html; charset=utf-8' };

  test.each([
    ['in one line, without controls', '\n A\t page\r\n&nbsp;of &#27;[31m ours ', {}, 'A page of [31m ours'],
    ['in the encoding of its type', '\xcf', { 'content-type': 'text/html; charset="windows-1251"' }, 'П'],
    ['whole, if it has 120 characters', utf8('😀'.repeat(120)), inUtf8, '😀'.repeat(120)],
    ['cut between characters', utf8('😀'.repeat(30_000)), inUtf8, `${'😀'.repeat(119)}…`],
    ['of XHTML', 'a &amp; b', { 'content-type': 'application/xhtml+xml' }, 'a & b'],
    ['in a sandbox', 'A page', { 'content-security-policy': 'sandbox' }, 'A page'],
    ['null if nothing of it shows', ' \n &nbsp; ', {}, null],
    ['null of what is no page', 'A page', { 'content-type': 'text/plain' }, null],
    ['null of a file to save', 'A page', { 'content-disposition': 'attachment' }, null],
  ])('%s', (_, text, headers, expected) => expect(title(text, headers)).toBe(expected));

  test.each([
    ['the first', '<title>One</title><title>Two</title>', 'One'],
    ['not one in SVG', '<svg><title>Of a picture</title></svg><title>Of the page</title>', 'Of the page'],
    ['not one in a template', '<template><title>a</title></template><title>b</title>', 'b'],
    [
      'text, whatever it contains',
      '<title><script></script> &lt;b> &amp;</title>',
      '<script></script> <b> &',
    ],
    ['in the body', '<body><p>Text<title>Late</title>', 'Late'],
    ['none where the first is empty', '<title></title><title>Two</title>', null],
    ['none in a comment', '<!-- <title>x</title> -->', null],
  ])('is %s', (_, markup, title) => expect(readHtml(markup).title).toBe(title));
});

describe('markup that would become a tree of gigabytes', () => {
  const size = 64 * 1024;
  const bold = (count: number) => Array.from({ length: count }, (_, i) => `<b ${i}>`).join('');

  test.each([
    ['elements in elements', '<div>'.repeat(size / 5)],
    // Every paragraph repeats all open ones.
    ['formatting elements', `${bold(100)}${'<p>x'.repeat(size / 4)}`],
    ['more formatting elements', `${bold(4_000)}${'<p>x'.repeat(8_000)}`],
    ['formatting elements in tables', '<table><b>'.repeat(size / 10)],
    ['templates', '<template>'.repeat(size / 10)],
  ])('is read up to a limit: %s', (_, markup) => {
    expect(readHtml(meta('0;url=/m') + markup + meta('0;url=/m')).refreshes).toHaveLength(1);
  });
});
