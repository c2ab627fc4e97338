import { type Link, ofLines, ofReplies, page, redirect, savedAs } from './link.ts';
import { refresh } from './pages.ts';
import type { Reply } from './stage.ts';

/** A response with a refresh: browsers that save it do not follow that. */
const refreshing = (headers: Reply['headers'] = [], body = 'x', status = 200): Reply => ({
  status,
  headers: [...headers, refresh('0;url=/x')],
  body,
});
const typed = (type: string) => ['Content-Type', type] as const;
const disposition = (value: string) => ['Content-Disposition', value] as const;
const nosniff = ['X-Content-Type-Options', 'nosniff'] as const;

const html = typed('text/html');
const statuses = [204, 205, 206, 304, 404, 503, 999].flatMap((status) => [
  [`${status}, a page`, refreshing([html], '', status)] as const,
  // Chromium reports no download for an error status.
  ...(status < 400
    ? [[`${status}, an attachment`, refreshing([html, disposition('attachment')], '', status)] as const]
    : []),
]);

const files: Link[] = [
  ...ofLines('types.txt', (type) => refreshing([typed(type)])),
  ...ofLines('dispositions.txt', (value) => refreshing([html, disposition(value)])),
  ...ofLines('beginnings.txt', (body) => refreshing([], body)),
  ...ofReplies('Files: status', statuses),
  ...ofReplies('Files: content', [
    ['of no type, none', refreshing([], '')],
    ['of no type, <html>, nosniff', refreshing([nosniff], '<html>')],
    ['of no type, binary, nosniff', refreshing([nosniff], '\0')],
    ['text/plain, binary', refreshing([typed('text/plain')], '\0')],
    ['text/plain, PDF', refreshing([typed('text/plain')], '%PDF-')],
    ['text/plain, binary, nosniff', refreshing([typed('text/plain'), nosniff], '\0')],
    ['application/unknown, binary', refreshing([typed('application/unknown')], '\0')],
    ['image/png, <html>', refreshing([typed('image/png')], '<html>')],
    [
      'two dispositions, equal',
      refreshing([html, disposition('attachment; filename=x'), disposition('attachment; filename=x')]),
    ],
  ]),
  ...ofLines('names.txt', () => ({})).map(({ group, sent }): Link => {
    const [type = '', there = ''] = sent.split(' ');
    return {
      group,
      sent,
      website: ({ path }) => (path === '/a/b?q' ? redirect(there) : refreshing([typed(type)])),
    };
  }),
];

/** Names to which Chromium adds an ending that we do not know. */
const longerNames = new Map([
  ['image/tiff', 'b.tiff'],
  ['multipart/related', 'b.mht'],
  ['PK‹03›‹04›', 'b.zip'],
  ['%PDF-1.4', 'b.pdf'],
  ['%!PS-Adobe-', 'b.ps'],
  ['‹1f›‹8b›‹08›', 'b.gz'],
  ['text/plain, binary', 'b'],
]);

/** How Chromium's name differs, and why that is accepted. */
function nameInChromium(sent: string) {
  const name = longerNames.get(sent);
  const reason = 'Chromium takes the ending from a longer list of types, or from the content';
  return name === undefined ? {} : { chromium: savedAs(name), reason };
}

/** Links to what Chromium saves, or might. */
export const fileLinks: readonly Link[] = files.map((link) => ({
  ...link,
  website: (asked) => (asked.path === '/x' ? page('') : link.website(asked)),
  counts: 'file',
  ...nameInChromium(link.sent),
}));
