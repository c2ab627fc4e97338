import { bytes, end, type Link, ofLines, ofReplies, page } from './link.ts';
import type { Reply } from './stage.ts';

export const meta = (content: string) => `<meta http-equiv="refresh" content="${content}">`;
export const refresh = (value: string) => ['Refresh', value] as const;

const refreshes: Link[] = [
  ...ofLines('refreshes.txt', (value) => ({
    ...end,
    headers: [['Content-Type', 'text/plain'], refresh(value)],
  })),
  ...ofReplies('Refresh header', [
    ['two of them', page('', [refresh('0;url=/x'), refresh('0;url=/y')])],
    ['0;url=/x with an image', { headers: [['Content-Type', 'image/png'], refresh('0;url=/x')], body: 'x' }],
    [
      '0;url=/x with JSON',
      { headers: [['Content-Type', 'application/json'], refresh('0;url=/x')], body: '{}' },
    ],
    ['0;url=/x beside a Location of 200', page('', [refresh('0;url=/x'), ['Location', '/y']])],
    [
      '0;url=/x beside a Location of 302',
      { ...page('', [refresh('0;url=/x'), ['Location', '/y']]), status: 302 },
    ],
    ['0;url=/x in a sandbox', page('', [refresh('0;url=/x'), ['Content-Security-Policy', 'sandbox']])],
  ]),
];

const unquoted = '<meta http-equiv=refresh content="0;url=/m">';

const pages: Link[] = [
  ...ofLines('contents.txt', (content) => page(`<!doctype html>${meta(content)}`)),
  // In the table {meta} stands for a meta element, {0;url=/1} for one with that content.
  ...ofLines('pages.txt', (markup) =>
    page(markup.replaceAll('{meta}', unquoted).replace(/\{(.*?)\}/g, (_, content) => meta(content))),
  ),
  ...ofReplies('Meta refresh: place', [['40,000 spaces before {meta}', page(' '.repeat(40_000) + unquoted)]]),
  ...ofReplies('Meta refresh: base, and several', [
    ['{0;url=/m} and Refresh: 0;url=/h', page(meta('0;url=/m'), [refresh('0;url=/h')])],
    ['{1;url=/m} and Refresh: 0;url=/h', page(meta('1;url=/m'), [refresh('0;url=/h')])],
    ['{0;url=/m} and Refresh: 1;url=/h', page(meta('0;url=/m'), [refresh('1;url=/h')])],
  ]),
];

/** A page of a type, or of none. */
const typed = (type: string | null, body = `<html>${unquoted}`, headers: Reply['headers'] = []): Reply => ({
  headers: [...(type === null ? [] : [['Content-Type', type] as const]), ...headers],
  body,
});

const types: Link[] = ofReplies('Pages: type and encoding', [
  ...[
    ...['text/html', 'TEXT/HTML;charset=x', 'text/plain', 'application/json', 'text/html, text/plain'],
    ...['*/*', '', 'html', 'text/html;', 'unknown/unknown'],
  ].map((type) => [`Content-Type: ${type}`, typed(type)] as const),
  [
    'Content-Type: text/plain, and again text/html',
    typed('text/plain', undefined, [['Content-Type', 'text/html']]),
  ],
  ['no Content-Type: <html>', typed(null)],
  ['no Content-Type: <!doctype html>', typed(null, `<!doctype html>${unquoted}`)],
  ['no Content-Type: {meta}', typed(null, unquoted)],
  ['no Content-Type: text before <html>', typed(null, `text <html>${unquoted}`)],
  ['no Content-Type: white space before <html>', typed(null, ` \n\t<html>${unquoted}`)],
  ['no Content-Type: <html>, nosniff', typed(null, undefined, [['X-Content-Type-Options', 'nosniff']])],
  [
    'XHTML',
    typed(
      'application/xhtml+xml',
      `<html xmlns="http://www.w3.org/1999/xhtml"><head>${meta('0;url=/m').replace('>', '/>')}</head></html>`,
    ),
  ],
  ['Content-Disposition: inline', page(unquoted, [['Content-Disposition', 'inline']])],
  ['a sandbox', page(unquoted, [['Content-Security-Policy', 'sandbox']])],
  ['a sandbox with scripts', page(unquoted, [['Content-Security-Policy', 'sandbox allow-scripts']])],
  ['a sandbox, <noscript>{meta}', page(`<noscript>${unquoted}`, [['Content-Security-Policy', 'sandbox']])],
  ['404', { ...page(unquoted), status: 404 }],
  ['no encoding', page(meta('0;url=/\xfc?\xfc#\xfc'))],
  ['no encoding, UTF-8', page(meta(bytes('0;url=/ü?ü')))],
  ['windows-1251', typed('text/html;charset=windows-1251', meta('0;url=/\xcf?\xcf#\xcf'))],
  [
    'windows-1251, and a character that it lacks',
    typed('text/html;charset=windows-1251', meta('0;url=/?&#252;')),
  ],
  ['shift_jis', typed('text/html;charset=shift_jis', meta('0;url=/\x82\xa0?\x82\xa0'))],
  ['UTF-8', typed('text/html;charset=utf-8', meta(bytes('0;url=/ü?ü#ü')))],
  ['UTF-8, damaged', typed('text/html;charset=utf-8', meta('0;url=/\xff?\xff'))],
  ['UTF-8 by <meta charset>', page(`<meta charset=utf-8>${meta(bytes('0;url=/ü?ü'))}`)],
  ['UTF-8 by <meta charset> at the end', page(`${meta(bytes('0;url=/ü?ü'))}<meta charset=utf-8>`)],
  ['UTF-8 by a byte order mark', page(bytes(`\ufeff${meta('0;url=/ü?ü')}`))],
  [
    'UTF-16 by a byte order mark',
    page(Buffer.from(`\ufeff${meta('0;url=/ü?ü')}`, 'utf16le').toString('latin1')),
  ],
  ['no known encoding', typed('text/html;charset=bogus', meta('0;url=/\xfc?\xfc'))],
]);

/** Pages that lead on by themselves. */
export const pageLinks: readonly Link[] = [...refreshes, ...pages, ...types];
