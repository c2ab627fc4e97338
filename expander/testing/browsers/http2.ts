import { data, errors, frame, goAway, head, reset } from '../http2-frames.ts';
import { end, errorAt, type Link, overHttp2, redirect, start } from './link.ts';
import { unquoted } from './pages.ts';
import type { Reply, Website } from './stage.ts';

type Frames = NonNullable<Reply['frames']>;
type Fields = Parameters<typeof head>[1];

/** A website whose first page resets HEAD, sends raw frames for GET, and redirects to `/by-http1` over HTTP/1.1. */
const sending =
  (frames: Frames): Website =>
  ({ method, path }) => {
    if (path !== '/a/b?q') return end;
    return method === 'HEAD' ? 'reset' : { ...redirect('/by-http1'), frames };
  };

const found = [':status', '302'] as const;
const ok = [':status', '200'] as const;
const toX = ['location', '/x'] as const;
const html = ['content-type', 'text/html'] as const;
const refresh = ['refresh', '0;url=/x'] as const;

/** A redirect to `/x` with these fields. */
const redirecting =
  (...fields: Fields): Frames =>
  (stream) =>
    head(stream, [found, toX, ...fields]);

/** A head with this status, which redirects to `/x` by `Location` or `Refresh`. */
const withStatus =
  (...statuses: string[]): Frames =>
  (stream) =>
    head(stream, [...statuses.map((status) => [':status', status] as const), html, toX, refresh]);

/** A page with these fields that redirects to `/m`. */
const article = (stream: number, fields: Fields = [], body = unquoted, isEnd = true) =>
  Buffer.concat([head(stream, [ok, html, ...fields], false), data(stream, body, isEnd)]);

/** Sends several frames. */
const inTurn =
  (...parts: readonly Frames[]): Frames =>
  (stream) =>
    Buffer.concat(parts.map((part) => part(stream)));

const interim = (...fields: Fields): Frames => {
  const all = [[':status', '103'] as const, ...fields];
  return (stream) => head(stream, all, false);
};
const trailing =
  (...fields: Fields): Frames =>
  (stream) =>
    Buffer.concat([article(stream, [], 'x', false), head(stream, fields)]);
const resetting =
  (code: number): Frames =>
  (stream) =>
    reset(stream, code);
const unended = (...fields: Fields): Frames => {
  return (stream) => head(stream, fields, false);
};

/** Responses that both read alike. */
const agreed: Record<string, Frames> = {
  'an interim response before a redirect': inTurn(interim(['link', '</x>']), redirecting()),
  'an interim response with a Location': inTurn(interim(['location', '/y']), redirecting()),
  'a redirect with a body': inTurn(unended(found, toX, html), (stream) => data(stream, unquoted)),
  'a redirect with an empty DATA frame': inTurn(unended(found, toX), (stream) => data(stream, '')),
  'a redirect without an end': unended(found, toX),
  'a redirect, then RST_STREAM without an error': inTurn(unended(found, toX), resetting(0)),
  'a redirect, then RST_STREAM': inTurn(unended(found, toX), resetting(errors.internal)),
  'a redirect, then GOAWAY': inTurn(redirecting(), (stream) => goAway(0, stream)),
  'a page, then RST_STREAM without an error': inTurn(article, resetting(0)),
  'a page, then GOAWAY': inTurn(article, (stream) => goAway(0, stream)),
  'a head of 15,000 bytes': redirecting(['x', 'y'.repeat(15_000)]),
  'a page with a longer Content-Length': (stream) => article(stream, [['content-length', '1000']]),
  'a trailing Refresh': trailing(refresh),
  'trailing pseudo-headers': trailing(found, toX),
  'status 999': withStatus('999'),
  'status 421': withStatus('421'),
  'an unknown frame': inTurn((stream) => frame('unknown', 0, stream, Buffer.from('x')), redirecting()),
  'white space around a Location': (stream) => head(stream, [found, ['location', ' /x\t']]),
  'bytes in a Location': (stream) => head(stream, [found, ['location', '/\xfc\xc3\xbc']]),
  'an empty Location': (stream) => head(stream, [found, ['location', '']]),
  'equal Locations': redirecting(toX),
  'different Locations': redirecting(['location', '/y']),
  HTTP_1_1_REQUIRED: resetting(errors.http11Required),
  RST_STREAM: resetting(errors.internal),
};

/** Malformed responses (RFC 9113 section 8) that Chromium reads, but Node rejects. */
const tolerated: Record<string, Frames> = {
  'a Content-Length of 0, 0': redirecting(['content-length', '0, 0']),
  'a Content-Length of x': redirecting(['content-length', 'x']),
  'a longer Content-Length': redirecting(['content-length', '5']),
  'two different lengths': redirecting(['content-length', '1'], ['content-length', '2']),
  'the header Connection': redirecting(['connection', 'close']),
  'the header Keep-Alive': redirecting(['keep-alive', 'timeout=5']),
  'the header Proxy-Connection': redirecting(['proxy-connection', 'close']),
  'the header Upgrade': redirecting(['upgrade', 'h2c']),
};
const toleratedStatuses: Record<string, Frames> = {
  'a status of two digits': withStatus('30'),
  'a status of four digits': withStatus('3020'),
  'a status with a sign': withStatus('+302'),
};

/** A page that is longer than its length. Node reads none of it. */
const overlong: Record<string, Frames> = {
  'a page with a shorter Content-Length': (stream) => article(stream, [['content-length', '5']]),
};

/** Malformed responses that Chromium and Node reject. */
const rejected: Record<string, Frames> = {
  'the header Transfer-Encoding': redirecting(['transfer-encoding', 'chunked']),
  'an upper-case name': redirecting(['X', 'y']),
  'an unknown pseudo-header': redirecting([':x', 'y']),
  'a pseudo-header after a header': (stream) => head(stream, [toX, found]),
  'no status': withStatus(),
  'two statuses': withStatus('302', '302'),
};

/** Malformed headers that Chromium rejects. Node drops them. */
const dropped: Record<string, Frames> = {
  'an empty name': redirecting(['', 'x']),
  'a name with a space': redirecting(['x y', 'z']),
  'a name with a space at its end': redirecting(['x ', 'z']),
  'a name with a colon': redirecting(['x:y', 'z']),
  'a zero byte in a value': redirecting(['x', 'a\0b']),
  'a line break in a value': redirecting(['x', 'a\r\nlocation: /y']),
};

/** Pages that end early. */
const truncated: Record<string, Frames> = {
  'a Refresh, then RST_STREAM': inTurn(unended(ok, html, refresh), resetting(errors.internal)),
  'a page, then RST_STREAM': inTurn(
    (stream) => article(stream, [], `${unquoted}<p>`, false),
    resetting(errors.internal),
  ),
};

/** Creates links over HTTP/2, whose ends in Chromium differ for this reason, if any. */
const ofFrames = (
  cases: Record<string, Frames>,
  difference: Partial<Pick<Link, 'chromium' | 'reason'>> = {},
) =>
  overHttp2(
    Object.entries(cases).map(([sent, frames]) => ({
      group: 'Frames',
      sent,
      website: sending(frames),
      ...difference,
    })),
  );

const fallsBack = 'an origin that breaks HTTP/2 gets HTTP/1.1';

/** Links to websites that speak HTTP/2 in unusual ways. */
export const http2Links: readonly Link[] = [
  ...ofFrames(agreed),
  ...ofFrames(tolerated, { chromium: 'http://start.example/x#part', reason: fallsBack }),
  ...ofFrames(toleratedStatuses, { chromium: 'http://start.example/x', reason: fallsBack }),
  ...ofFrames(overlong, {
    chromium: 'http://start.example/m',
    reason: 'a page that is longer than its Content-Length is reported as incomplete',
  }),
  ...ofFrames(rejected, { chromium: errorAt(start), reason: fallsBack }),
  ...ofFrames(dropped, {
    chromium: errorAt(start),
    reason: 'a malformed header that means nothing is ignored',
  }),
  ...ofFrames(truncated, {
    chromium: start,
    reason: 'Chromium ignores the refreshes of a truncated page, but Longhand follows them',
  }),
];
