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

// More pages are in browsers.browser.test.ts.
describe('a page redirects', () => {
  test('after 15 s at most', () => {
    expect(read(meta('15;url=/m'))).toEqual({ kind: 'meta', url: 'http://a.example/m' });
    expect(read(meta('15.1;url=/m'))).toBeNull();
  });

  const attachment = { 'content-disposition': 'attachment; filename=x' };
  const sandbox = { 'content-security-policy': "default-src 'self'; sandbox allow-forms" };
  const tooLong = `//${'a'.repeat(254)}`;
  test.each([
    ['to a script', meta('0;url=javascript:alert(1)'), {}],
    ['to a malformed URL', meta('0;url=http://['), {}],
    ['relative to a host that is too long', `<base href="${tooLong}">${meta('0;url=m')}`, {}],
    ['to a host that is too long', meta(`0;url=${tooLong}`), {}],
    ['if browsers download it', '', { refresh: '0;url=/m', ...attachment }],
    ['if it has the type of a file', '', { refresh: '0;url=/m', 'content-type': 'application/octet-stream' }],
    ['in a sandbox without scripts', meta('0;url=/m'), sandbox],
  ])('but not %s', (_, body, headers) => {
    expect(read(body, headers)).toBeNull();
  });

  test.each([204, 205, 304])('but not if its status is %i', (status) => {
    expect(read('', { refresh: '0;url=/m' }, status)).toBeNull();
  });
});

describe('the title of a page', () => {
  const title = (text: string, headers = {}) => readWhole(`<title>${text}</title>`, headers).title;
  const utf8 = (text: string) => Buffer.from(text).toString('latin1');
  const inUtf8 = { 'content-type': 'text/html; charset=utf-8' };

  test.each([
    [
      'in one line, without control characters',
      '\n A\t page\r\n&nbsp;of &#27;[31m ours ',
      {},
      'A page of [31m ours',
    ],
    [
      'in the encoding of its Content-Type',
      '\xcf',
      { 'content-type': 'text/html; charset="windows-1251"' },
      'П',
    ],
    ['whole, up to 120 characters', utf8('😀'.repeat(120)), inUtf8, '😀'.repeat(120)],
    ['cut between characters', utf8('😀'.repeat(30_000)), inUtf8, `${'😀'.repeat(119)}…`],
    ['of XHTML', 'a &amp; b', { 'content-type': 'application/xhtml+xml' }, 'a & b'],
    ['in a sandbox', 'A page', { 'content-security-policy': 'sandbox' }, 'A page'],
    ['null if it is blank', ' \n &nbsp; ', {}, null],
    ['null for plain text', 'A page', { 'content-type': 'text/plain' }, null],
    ['null for a file', 'A page', { 'content-disposition': 'attachment' }, null],
  ])('%s', (_, text, headers, expected) => expect(title(text, headers)).toBe(expected));

  test.each([
    ['the first', '<title>One</title><title>Two</title>', 'One'],
    ['not a title in SVG', '<svg><title>Of a picture</title></svg><title>Of the page</title>', 'Of the page'],
    ['not a title in a template', '<template><title>a</title></template><title>b</title>', 'b'],
    ['text with markup in it', '<title><b></b> &lt;b> &amp;</title>', '<b></b> <b> &'],
    ['in the body', '<body><p>Text<title>Late</title>', 'Late'],
    ['null if the first is empty', '<title></title><title>Two</title>', null],
    ['not in a comment', '<!-- <title>x</title> -->', null],
  ])('is %s', (_, markup, title) => expect(readHtml(markup).title).toBe(title));
});

describe('markup whose tree would take gigabytes', () => {
  const size = 64 * 1024;
  const bold = (count: number) => Array.from({ length: count }, (_, i) => `<b ${i}>`).join('');

  test.each([
    ['elements in elements', '<div>'.repeat(size / 5)],
    // Every paragraph repeats all open <b> elements.
    ['formatting elements', `${bold(100)}${'<p>x'.repeat(size / 4)}`],
    ['more formatting elements', `${bold(4_000)}${'<p>x'.repeat(8_000)}`],
    ['formatting elements in tables', '<table><b>'.repeat(size / 10)],
    ['templates', '<template>'.repeat(size / 10)],
  ])('is read up to a limit: %s', (_, markup) => {
    expect(readHtml(meta('0;url=/m') + markup + meta('0;url=/m')).refreshes).toHaveLength(1);
  });
});

const words = 'word '.repeat(50);
const mayRedirect = (markup: string) => readWhole(markup).scriptRedirect;

test.each([
  ['window.location="x"', 'document . location . replace("x")'],
  ['const a = "{"; // {\n self.location.assign(a)', 'if (a) location\n= b'],
])('on a page with text, the scripts %s and %s may redirect', (...scripts) => {
  for (const script of scripts)
    expect(mayRedirect(`${words}<script>a()</script><script>${script}</script>`)).toBe(true);
});

test.each([
  'link.location = 1; mylocation = 1',
  'location == 1; location.hash = 1; a = location.href',
  '/* location = 1',
])('on a page with text, the script %s does not redirect', (script) =>
  expect(mayRedirect(`${words}<script>${script}</script>`)).toBe(false),
);

test('treats a page with 200 visible characters as text', () => {
  const page = (count: number) => `<style>${words}</style>${'x '.repeat(count)}<script>a.click()</script>`;
  expect([mayRedirect(page(199)), mayRedirect(page(200))]).toEqual([true, false]);
});
