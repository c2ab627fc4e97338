import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { mayBePage, readRefresh } from './page.ts';

const url = new URL('http://a.example/x/y?q');
const meta = (content: string) => `<meta http-equiv="refresh" content="${content}">`;
const head = (headers: Record<string, string> = {}, status = 200) => ({
  status,
  headers: { 'content-type': 'text/html', ...headers },
  addressFamily: null,
});
const read = (body: string, headers = {}, status = 200) =>
  readRefresh(url, head(headers, status), Buffer.from(body, 'latin1'));

describe('a page leads', () => {
  test.each([
    ['by a header', '', { refresh: '0;url=next' }, 'refresh', 'http://a.example/x/next'],
    [
      'by a header of whatever it is',
      '',
      { refresh: '0;/next', 'content-type': 'image/png' },
      'refresh',
      'http://a.example/next',
    ],
    ['by a meta element', meta('0;url=next'), {}, 'meta', 'http://a.example/x/next'],
    ['to itself', meta('5'), {}, 'meta', ''],
    [
      'by the base before',
      `<base href="//b.example/c/">${meta('0;url=d')}`,
      {},
      'meta',
      'http://b.example/c/d',
    ],
    [
      'by itself where the base can be none',
      `<base href="data:,x">${meta('0;url=d')}`,
      {},
      'meta',
      'http://a.example/x/d',
    ],
    [
      'by a whole URL where the base is none',
      `<base href="http://[">${meta('0;url=http://b.example/')}`,
      {},
      'meta',
      'http://b.example/',
    ],
    ['by the shortest delay', meta('1;url=/1'), { refresh: '2;url=/2' }, 'meta', 'http://a.example/1'],
    [
      'by the first if that is the shortest',
      meta('2;url=/1'),
      { refresh: '1;url=/2' },
      'refresh',
      'http://a.example/2',
    ],
    [
      'by the last of several',
      meta('0;url=/1') + meta('0;url=/2'),
      { refresh: '0;url=/h' },
      'meta',
      'http://a.example/2',
    ],
    [
      'by what is not a script',
      meta('0;url=javascript:alert(1)') + meta('1;url=/2'),
      {},
      'meta',
      'http://a.example/2',
    ],
    ['after 15 s at most', meta('15;url=/m'), {}, 'meta', 'http://a.example/m'],
    ['to something else', meta('0;url=mailto:a@b.example'), {}, 'meta', 'mailto:a@b.example'],
  ])('%s', (_, body, headers, kind, target) => {
    expect(read(body, headers)).toEqual({ kind, url: target });
  });

  test.each([
    ['after more than 15 s', meta('16;url=/m'), {}],
    ['if the shortest delay is no refresh', meta('x;url=/m'), {}],
    ['to a script', meta('0;url=javascript:alert(1)'), {}],
    ['to what is no URL', meta('0;url=http://['), {}],
    ['to what is relative to no URL', `<base href="http://[">${meta('0;url=m')}`, {}],
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
    ['if it is plain text', meta('0;url=/m'), { 'content-type': 'text/plain' }],
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

  test('in a sandbox with scripts', () => {
    expect(read(meta('0;url=/m'), { 'content-security-policy': 'sandbox allow-scripts' })).not.toBeNull();
  });
});

test('a base and its refreshes are parsed once', () => {
  const parse = vi.spyOn(URL, 'parse');
  onTestFinished(() => parse.mockRestore());
  const base = '<base href="//b.example/">';
  expect(read(base + meta('0;url=m').repeat(500))?.url).toBe('http://b.example/m');
  expect(parse).toHaveBeenCalledTimes(2);
});

describe('the type decides what is a page', () => {
  test.each([
    ['text/html', true],
    ['TEXT/HTML; charset=x', true],
    ['application/xhtml+xml', true],
    ['text/plain, text/html', true],
    ['text/html, text/plain', false],
    ['text/plain', false],
    ['application/json', false],
    ['*/*', true],
    ['nonsense', true],
    ['', true],
  ])('%j: %s', (type, page) => {
    expect(mayBePage(head({ 'content-type': type }))).toBe(page);
  });

  test('and without one the content, if it may be looked at', () => {
    const untyped = { 'content-type': '' };
    expect(read(`\n<!DOCTYPE html>${meta('0;url=/m')}`, untyped)).not.toBeNull();
    expect(read(meta('0;url=/m'), untyped)).toBeNull();
    expect(mayBePage(head({ ...untyped, 'x-content-type-options': 'nosniff' }))).toBe(false);
  });
});

describe('the encoding of a page', () => {
  test.each([
    ['windows-1252, if it says none', '\xfc', {}, '%C3%BC?%FC#%C3%BC'],
    [
      'that of its type',
      '\xcf',
      { 'content-type': 'text/html; charset="windows-1251"' },
      '%D0%9F?%CF#%D0%9F',
    ],
    [
      'of several bytes',
      '\x82\xa0',
      { 'content-type': 'text/html;charset=shift_jis' },
      '%E3%81%82?%82%A0#%E3%81%82',
    ],
    ['UTF-8', '\xc3\xbc', { 'content-type': 'text/html;charset=utf-8' }, '%C3%BC?%C3%BC#%C3%BC'],
    ['no known one', '\xfc', { 'content-type': 'text/html;charset=bogus' }, '%C3%BC?%FC#%C3%BC'],
  ])('is that of queries in it: %s', (_, text, headers, encoded) => {
    expect(read(meta(`0;url=/${text}?${text}#${text}`), headers)?.url).toBe(`http://a.example/${encoded}`);
  });

  test.each([
    ['a meta element', `<meta charset=utf-8>${meta('0;url=/\xc3\xbc')}`],
    ['a byte order mark', `\xef\xbb\xbf${meta('0;url=/\xc3\xbc')}`],
  ])('may be said by %s', (_, body) => {
    expect(read(body)?.url).toBe('http://a.example/%C3%BC');
  });
});
