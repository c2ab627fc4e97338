import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { words } from '../pieces.ts';
import { bytes, end, type Link, ofCases, ofLines, ofReplies, page, redirect, start } from './link.ts';
import type { Reply, Website } from './stage.ts';

export const meta = (content: string) => `<meta http-equiv="refresh" content="${content}">`;
export const refresh = (value: string) => ['Refresh', value] as const;

const headers = words`
  0;url=/x 0,url=/x 0;/x 0;?z 0;/x#own 0;url="/x" 0;url=http://other.example/ 0 ␠ 60;url=/x
  0;url=javascript:alert(1) 0;url=/‹fc› 0;url=/ü 0;url=/x,␠0;url=/y
`;

const contents = words`
  0;url=/m 0;␠URL␠=␠/m 0,url=/m 0␠/m 0.5;url=/m 0.0.1;url=/m -1;url=/m ;url=/m 1e0;url=/m 0url=/m
  16;url=/m 300 0;url='/m' 0;url='/m 0;'/m' 0;url='/m'x'y 0;␠url=&quot;/m&quot; 0;;url=/m 0;url=url=/m
  ␠␠0␠␠;␠␠url␠␠=␠␠/m␠␠ 0␊;␊url␊=␊/m 0;url=/m␊/n 0;url=␉/m 0‹a0›;url=/m 0;url= 0 0; 0;url=#frag 0;url=?z
  0;url=//other.example 0;url=http:m 0;url=javascript:alert(1) 0;url=mailto:a@example.com
  0;url=/m{n}?{o}#{p}
`;

const refreshes: Link[] = [
  ...ofCases('Refresh header', headers, (value) => ({
    ...end,
    headers: [['Content-Type', 'text/plain'], refresh(value)],
  })),
  ...ofReplies('Refresh header', {
    'two headers': page('', [refresh('0;url=/x'), refresh('0;url=/y')]),
    '0;url=/x on an image': { headers: [['Content-Type', 'image/png'], refresh('0;url=/x')], body: 'x' },
    '0;url=/x with a Location and status 200': page('', [refresh('0;url=/x'), ['Location', '/y']]),
    '0;url=/x with a Location and status 302': {
      ...page('', [refresh('0;url=/x'), ['Location', '/y']]),
      status: 302,
    },
    '0;url=/x in a sandbox': page('', [refresh('0;url=/x'), ['Content-Security-Policy', 'sandbox']]),
  }),
];

export const unquoted = '<meta http-equiv=refresh content="0;url=/m">';

const pages: Link[] = [
  ...ofCases('Meta refresh: content', contents, (content) => page(`<!doctype html>${meta(content)}`)),
  // {meta} is a placeholder for a meta refresh, {0;url=/1} for a meta refresh with that content.
  ...ofLines('pages.txt', (markup) =>
    page(markup.replaceAll('{meta}', unquoted).replace(/\{(.*?)\}/gs, (_, content) => meta(content))),
  ),
  ...ofReplies('Meta refresh: place', { '40,000 spaces before {meta}': page(' '.repeat(40_000) + unquoted) }),
  ...ofReplies('Meta refresh: deep elements', {
    '511 <div>': page('<div>'.repeat(511) + unquoted),
    '600 <div>': page('<div>'.repeat(600) + unquoted),
    '2,000 <div>': page('<div>'.repeat(2_000) + unquoted),
    '600 <b>': page('<b>'.repeat(600) + unquoted),
    '600 <span>, a title below': page(`${'<span>'.repeat(600)}<title>x</title>${unquoted}`),
  }),
  ...ofReplies('Meta refresh: base, and several', {
    '{0;url=/m} and Refresh: 0;url=/h': page(meta('0;url=/m'), [refresh('0;url=/h')]),
    '{0;url=/m} and Refresh: 1;url=/h': page(meta('0;url=/m'), [refresh('1;url=/h')]),
  }),
];

/** Creates a page. @param type null omits the Content-Type. */
const typed = (type: string | null, body = `<html>${unquoted}`, headers: Reply['headers'] = []): Reply => ({
  headers: [...(type === null ? [] : [['Content-Type', type] as const]), ...headers],
  body,
});

/** Creates the same page with each type. */
const ofTypes = (types: readonly string[], body?: string) =>
  Object.fromEntries(types.map((type) => [`Content-Type: ${type}`, typed(type, body)]));

const types: Link[] = ofReplies('Pages: type and encoding', {
  ...ofTypes(['text/html', 'TEXT/HTML;charset=x', 'text/plain', 'application/json', 'text/html, text/plain']),
  ...ofTypes(['*/*', '', 'unknown/unknown']),
  'Content-Type: text/plain, then Content-Type: text/html': typed('text/plain', undefined, [
    ['Content-Type', 'text/html'],
  ]),
  'no Content-Type: <html>': typed(null),
  'no Content-Type: <!doctype html>': typed(null, `<!doctype html>${unquoted}`),
  'no Content-Type: white space before <html>': typed(null, ` \n\t<html>${unquoted}`),
  'no Content-Type: <html>, nosniff': typed(null, undefined, [['X-Content-Type-Options', 'nosniff']]),
  'Content-Disposition: inline': page(unquoted, [['Content-Disposition', 'inline']]),
  'a sandbox': page(unquoted, [['Content-Security-Policy', 'sandbox']]),
  'a sandbox with scripts': page(unquoted, [['Content-Security-Policy', 'sandbox allow-scripts']]),
  'a sandbox, <noscript>{meta}': page(`<noscript>${unquoted}`, [['Content-Security-Policy', 'sandbox']]),
  ...Object.fromEntries(
    ["base-uri 'none'", "default-src 'self'; base-uri 'none'", 'base-uri', "base-uri 'self'"].map(
      (policy) => [
        policy,
        page(`<base href="/b/">${meta('0;url=m')}`, [['Content-Security-Policy', policy]]),
      ],
    ),
  ),
  '404': { ...page(unquoted), status: 404 },
  'no encoding': page(meta('0;url=/\xfc?\xfc#\xfc')),
  'no encoding, UTF-8': page(meta(bytes('0;url=/ü?ü'))),
  'windows-1251': typed('text/html;charset=windows-1251', meta('0;url=/\xcf?\xcf#\xcf')),
  shift_jis: typed('text/html;charset=shift_jis', meta('0;url=/\x82\xa0?\x82\xa0')),
  'UTF-8': typed('text/html;charset=utf-8', meta(bytes('0;url=/ü?ü#ü'))),
  'UTF-8 by <meta charset>': page(`<meta charset=utf-8>${meta(bytes('0;url=/ü?ü'))}`),
  'UTF-8 by a byte order mark': page(bytes(`\ufeff${meta('0;url=/ü?ü')}`)),
  ...Object.fromEntries(
    [
      `<script>/*${'x'.repeat(1_100)}*/</script><meta charset=utf-8>`,
      `<!--${'x'.repeat(1_100)}--><meta charset=utf-8>`,
      `<title>${'x'.repeat(1_100)}</title><meta charset=utf-8>`,
      `${'<link rel=x>'.repeat(100)}<meta http-equiv=content-type content="text/html; charset=utf-8">`,
      `<!--${'x'.repeat(5_000)}--><meta charset=utf-8>`,
      `<body>${'x'.repeat(1_100)}<meta charset=utf-8>`,
      `<div></div>${' '.repeat(1_100)}<meta charset=utf-8>`,
      `</head>${' '.repeat(1_100)}<meta charset=utf-8>`,
      `<div>${' '.repeat(900)}<meta charset=utf-8>`,
      `<!--${'x'.repeat(1_100)}--><meta charset=windows-1251><meta charset=utf-8>`,
      `<!--${'x'.repeat(1_100)}--><meta charset=bogus><meta charset=utf-8>`,
      `<meta charset=windows-1251><!--${'x'.repeat(1_100)}--><meta charset=utf-8>`,
    ].map((head) => [
      `${head.replace(/x{40,}/g, 'x…x').replace(/ {40,}/g, ' … ')}, late`,
      page(head + meta(bytes('0;url=/ü?ü'))),
    ]),
  ),
  'UTF-16 by a byte order mark': page(
    Buffer.from(`\ufeff${meta('0;url=/ü?ü')}`, 'utf16le').toString('latin1'),
  ),
  'an unknown encoding': typed('text/html;charset=bogus', meta('0;url=/\xfc?\xfc')),
});

const gzipped = (times: number) =>
  Array.from({ length: times }).reduce((body: Buffer) => gzipSync(body), Buffer.from(unquoted));

const encodings = (
  [
    ...['none', 'UTF-8', 'binary', 'identity'].map(
      (coding) => [coding, coding, Buffer.from(unquoted)] as const,
    ),
    ['gzip', 'gzip', gzipped(1)],
    ['x-gzip', 'x-gzip', gzipped(1)],
    ['deflate', 'deflate', deflateSync(unquoted)],
    ['deflate without a header', 'deflate', deflateRawSync(unquoted)],
    ['gzip, gzip', 'gzip, gzip', gzipped(2)],
    ['gzip, five times', 'gzip,gzip,gzip,gzip,gzip', gzipped(5)],
    ['gzip with trailing text', 'gzip', Buffer.concat([gzipped(1), Buffer.from('more')])],
    ['gzip with a wrong checksum', 'gzip', Buffer.concat([gzipped(1).subarray(0, -8), Buffer.alloc(8)])],
    ['deflate, br', 'deflate, br', brotliCompressSync(deflateSync(unquoted))],
    ['br', 'br', brotliCompressSync(unquoted)],
    ['zstd', 'zstd', zstdCompressSync(unquoted)],
  ] as const
).flatMap(([sent, coding, body]): Link[] => {
  const encoded = page(body.toString('latin1'), [['Content-Encoding', coding]]);
  const encrypted: Website = ({ encrypted, path }) => {
    if (!encrypted) return redirect('https://start.example/');
    return path === '/m' ? page('') : encoded;
  };
  return [
    ...ofReplies('Pages: Content-Encoding', { [sent]: encoded }).map((link) => ({
      ...link,
      ...(coding === 'zstd' && { chromium: start, reason: 'no website sends zstd over http' }),
    })),
    { group: 'Pages: Content-Encoding, over https', sent, website: encrypted },
  ];
});

const inXml = (attributes = '', url = '/m') =>
  `<meta${attributes} http-equiv="refresh" content="0;url=${url}"/>`;
const namespace = ' xmlns="http://www.w3.org/1999/xhtml"';
const document = `<html${namespace}>${inXml()}</html>`;
const declared = (encoding: string, url: string) =>
  `<?xml version="1.0" encoding="${encoding}"?><html${namespace}>${inXml('', url)}</html>`;

/** {meta} is a placeholder for a meta refresh, {xmeta} for a meta refresh with its namespace. */
const xml: Link[] = [
  ...ofLines('xml.txt', (markup) =>
    typed(
      'application/xhtml+xml',
      markup.replaceAll('{meta}', inXml()).replaceAll('{xmeta}', inXml(namespace)),
    ),
  ),
  ...ofReplies('XML: type and encoding', {
    ...ofTypes(words`text/xml application/xml text/xsl application/rss+xml application/xml-dtd`, document),
    SVG: typed('image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg">${inXml(namespace)}</svg>`),
    'no Content-Type: <?xml ?>': typed(null, declared('utf-8', '/m')),
    nosniff: typed('text/xml', document, [['X-Content-Type-Options', 'nosniff']]),
    'a sandbox': typed('text/xml', document, [['Content-Security-Policy', 'sandbox']]),
    'no encoding, UTF-8': typed('text/xml', bytes(document.replace('/m', '/ü?ü'))),
    'windows-1252 by the declaration': typed('text/xml', declared('windows-1252', '/\xfc?\xfc')),
    'windows-1251 by the type': typed('text/xml;charset=windows-1251', declared('utf-8', '/\xcf?\xcf')),
  }),
];

const scripts: Link[] = ofLines('scripts.txt', (markup) =>
  page(`<!doctype html>${markup.replace('{text}', 'Words to read. '.repeat(20))}`),
).map((link) => ({
  ...link,
  compares: 'script',
  ...(link.group.includes('might') && { chromium: start, reason: 'scripts and frames are not run' }),
}));

/** Links to compressed pages over http and https. */
export const encodingLinks: readonly Link[] = encodings;

/** Links to pages that may redirect. */
export const pageLinks: readonly Link[] = [...refreshes, ...pages, ...types, ...xml, ...scripts];
