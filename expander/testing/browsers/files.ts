import { words } from '../pieces.ts';
import { type Link, ofCases, ofLines, ofReplies, page, redirect, savedAs } from './link.ts';
import { refresh } from './pages.ts';
import type { Reply } from './stage.ts';

/** Creates a response with a refresh. Browsers follow the refresh only if they display the response. */
const refreshing = (headers: Reply['headers'] = [], body = 'x', status = 200): Reply => ({
  status,
  headers: [...headers, refresh('0;url=/x')],
  body,
});
const typed = (type: string) => ['Content-Type', type] as const;
const disposition = (value: string) => ['Content-Disposition', value] as const;
const nosniff = ['X-Content-Type-Options', 'nosniff'] as const;

const html = typed('text/html');
const attachment = disposition('attachment');
const statuses = [204, 205, 206, 304, 404, 503, 999].flatMap((status) =>
  ofReplies('Files: status', {
    [`${status}, a page`]: refreshing([html], '', status),
    // Chromium does not report a download for an error status.
    ...(status < 400 && { [`${status}, an attachment`]: refreshing([html, attachment], '', status) }),
  }),
);

const types = words`
  application/x-msdownload application/zip application/wasm application/octet-stream binary/octet-stream
  application/pdf application/x-ndjson application/yaml application/mathml+xml application/foo+xml
  application/x-unknown font/woff2 text/csv text/calendar text/vcard text/x-vcard text/rtf text/tsv
  text/tab-separated-values image/tiff image/heic audio/midi video/quicktime model/gltf+json
  message/rfc822 multipart/related multipart/mixed application/json application/ld+json
  application/javascript application/rss+xml text/javascript text/css text/markdown text/x-unknown
  text/vtt image/avif image/jxl image/bmp image/vnd.microsoft.icon multipart/x-mixed-replace
`;

const beginnings = words`
  PK‹03›‹04› ‹89›PNG␍␊‹1a›␊ GIF89a ‹ff›‹d8›‹ff› %PDF-1.4 %!PS-Adobe- hello ‹00›‹01›‹02› a‹1b›b a‹01›b
  ‹1f›‹8b›‹08› MZ‹90›‹00› ‹7f›ELF ‹ff›‹fe›a‹00› ‹ef›‹bb›‹bf›a‹00› ‹00›‹00›‹00›‹18›ftypmp42 OggS‹00›
  RIFF‹00›‹00›‹00›‹00›WAVE RIFF‹00›‹00›‹00›‹00›WEBPVP BM‹00›‹00› ‹00›‹00›‹01›‹00› Rar!‹1a›‹07›‹00›
  {"a":1}
`;

/** URL paths of files, by type. */
const paths = {
  'application/zip': words`
    / /a /a.php /a.php?x /a?x=b.pdf /a/ /a.tar.gz /%E2%82%AC.pdf /%ff.pdf /%2fa /a;b.exe /.x /a%20b.pdf%20
  `,
  'application/octet-stream': ['/a.php?x', '/'],
  'application/x-msdownload': ['/setup.exe'],
  'application/pdf': ['/a'],
  'text/csv': ['/report?id=1'],
};

const files: Link[] = [
  ...ofCases('Files: Content-Type, with a refresh', types, (type) => refreshing([typed(type)])),
  ...ofLines('dispositions.txt', (value) => refreshing([html, disposition(value)])),
  ...ofCases('Files: content without a type, with a refresh', beginnings, (body) => refreshing([], body)),
  ...statuses,
  ...ofReplies('Files: content', {
    'no type, empty': refreshing([], ''),
    'no type, <html>, nosniff': refreshing([nosniff], '<html>'),
    'no type, binary, nosniff': refreshing([nosniff], '\0'),
    'text/plain, binary': refreshing([typed('text/plain')], '\0'),
    'text/plain, PDF': refreshing([typed('text/plain')], '%PDF-'),
    'text/plain, binary, nosniff': refreshing([typed('text/plain'), nosniff], '\0'),
    'application/unknown, binary': refreshing([typed('application/unknown')], '\0'),
    'image/png, <html>': refreshing([typed('image/png')], '<html>'),
    'two equal dispositions': refreshing([
      html,
      disposition('attachment; filename=x'),
      disposition('attachment; filename=x'),
    ]),
  }),
  ...Object.entries(paths).flatMap(([type, names]) =>
    names.map(
      (name): Link => ({
        group: 'Files: names in the URL, by type',
        sent: `${type} ${name}`,
        website: ({ path }) => (path === '/a/b?q' ? redirect(name) : refreshing([typed(type)])),
      }),
    ),
  ),
];

/** File names in Chromium if Longhand does not know the extension. */
const longerNames = new Map([
  ['image/tiff', 'b.tiff'],
  ['multipart/related', 'b.mht'],
  ['PK‹03›‹04›', 'b.zip'],
  ['%PDF-1.4', 'b.pdf'],
  ['%!PS-Adobe-', 'b.ps'],
  ['‹1f›‹8b›‹08›', 'b.gz'],
  ['text/plain, binary', 'b'],
]);

/** Returns the accepted difference between the names, if any. */
function nameInChromium(sent: string) {
  const name = longerNames.get(sent);
  const reason = 'Chromium knows more extensions by type, or derives them from the content';
  return name === undefined ? {} : { chromium: savedAs(name), reason };
}

/** Links to files, and to pages that may be mistaken for files. */
export const fileLinks: readonly Link[] = files.map((link) => ({
  ...link,
  website: (request) => (request.path === '/x' ? page('') : link.website(request)),
  compares: 'file',
  ...nameInChromium(link.sent),
}));
