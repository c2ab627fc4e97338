import { BlockList } from 'node:net';
import { seed } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText, mixed, words } from '../testing/pieces.ts';
import { followRedirects } from './expansion/chain.ts';
import { chainCookies } from './expansion/cookies.ts';
import { ExpansionError } from './expansion/errors.ts';
import { createExpand } from './expansion/expand.ts';
import { isWeb, readTarget, resolveLocation } from './expansion/target.ts';
import { createGuard } from './guard/public-address.ts';
import { createBrowse } from './hop/browse.ts';
import { percentEncoded } from './hop/fetch-hop.ts';
import { readHtml } from './hop/meta-refresh.ts';
import { isCallbackName } from './web/api.ts';
import { callbackCall } from './web/responses.ts';

const inputs = rounds({ short: 1_000, long: 500_000 });
const chains = rounds({ short: 100, long: 50_000 });
const runs = (numRuns: number) => ({ seed, numRuns });

/** User input, or a `Location`. */
const input = mixed(
  [
    ...words`http:// https:// http: HTTP:/ ftp:// javascript: mailto: data:text/html, // ///
      / \ \\ @ : :80 :22 :0 :65536 # ? & = ; .. /../ . %
      %00 %0d%0a %2f %5c %40 %zz %ff %C3%BC
      127.0.0.1 127.1 0x7f.1 017700000001 2130706433 10.0.0.1 169.254.169.254 0 8.8.8.8
      [::1] [::] [::ffff:127.0.0.1] [fec0::1] [64:ff9b::7f00:1] [fe80::1%25eth0] [ ] ::1
      localhost a.localhost printer.local x.internal example.com xn-- xn--a
      １２７.0.0.1 127。0。0。1 ﬀ ü 💥 <script> </ " ' user:pass f f.g $ ( ) //comment`,
    ...['\r\n', '\t', '\0', ' ', '\u00a0', '\ufeff', 'ex\u00adample.com'],
    ...['\u202e', '\u2028', '\ud800', '\udfff', 'x'.repeat(300)],
  ],
  8,
);
const refresh = fc
  .tuple(mixed(['0', '1', '15', '16', '.', '-', ' ', ';', ',', 'url', '=', '"', "'"], 6), input)
  .map(([start, rest]) => start + rest);
const meta = refresh.map(
  (content) => `<meta http-equiv=refresh content="${content.replaceAll('"', '&quot;')}">`,
);
const tags = mixed([
  ...words`<!-- --> --!> <![CDATA[ ]]> <? < > /> </ &lt; &#0; <script> </script> <textarea> </textarea>
    <template> </template> <title> </title> <noscript> <style> <svg> </svg> <math> <select> <table>
    <frameset> <plaintext> <!doctype /b/"> "0;url=/x"`,
  ...['<base href="', '<meta http-equiv=refresh content=', '<p a=b ', '\0', '\ud800'],
]);
const markup = fc
  .array(fc.oneof({ weight: 2, arbitrary: meta }, { weight: 5, arbitrary: tags }), { maxLength: 8 })
  .map((parts) => parts.join(''));
const cookie = mixed([
  ...words`a b = 1 ; " , ü __Host- __Secure- / /x a.example .example example -1 0`,
  ...['; Path=', '; Domain=', '; Secure', '; HttpOnly', '; SameSite=None', '; Max-Age=', '; Expires='],
  ...['Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 01 Jan 2100 00:00:00 GMT', 'x'.repeat(3_000)],
  ...[' ', '\t', '\r', '\0'],
]);

/** Matches ASCII text without spaces, double quotes or angle brackets. */
const printable = /^[\x21\x23-\x3b\x3d\x3f-\x7e]*$/;
const guard = createGuard();

/** Private networks in Node's `BlockList`, independent of our own code. */
const inside = new BlockList();
for (const network of ['127.0.0.0', '10.0.0.0', '0.0.0.0']) inside.addSubnet(network, 8);
inside.addSubnet('169.254.0.0', 16);

const localName = /(?:^|\.)(?:localhost|local|internal)\.?$/;

/** Runs `work`. @returns undefined if it throws an ExpansionError. */
function allowed<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ExpansionError)) throw error;
    expect(error.message).toMatch(/^[\x20-\x7e]+$/);
    expect(error.message).not.toContain('<');
    return undefined;
  }
}

/** Checks that the guard accepts neither a private address nor a local name. */
function checkGuard(url: URL): void {
  const { hostname } = url;
  if (!allowed(() => guard.checkUrl(url) ?? true)) return;
  expect(inside.check(hostname)).toBe(false);
  expect(hostname).not.toMatch(localName);
  expect(hostname).not.toMatch(/^\[(?:::|f)/);
}

describe('any input', { timeout: 600_000 }, () => {
  test(`readTarget() returns the same URL as text and as an object (${inputs} inputs)`, () => {
    fc.assert(
      fc.property(input, (typed) => {
        const target = allowed(() => readTarget(typed));
        if (!target) return;
        expect(target.text).toMatch(printable);
        expect(new URL(target.text).href).toBe(target.url.href);
        expect(target.url.protocol).toMatch(/^https?:$/);
        checkGuard(target.url);
      }),
      runs(inputs),
    );
  });

  test(`resolveLocation() returns the same URL as text and as an object (${inputs} inputs)`, () => {
    const bases = fc.constantFrom('http://a.example/x?y#z', 'https://b.example:8443');
    fc.assert(
      fc.property(input, bases, (location, base) => {
        const next = resolveLocation(percentEncoded(location) ?? '', readTarget(base));
        if (!next) return;
        expect(next.text).toMatch(printable);
        // Other schemes are never requested.
        if (!isWeb(next.url)) return;
        expect(next.text).toBe(next.url.href);
        checkGuard(next.url);
      }),
      runs(inputs),
    );
  });

  test(`a valid callback name calls one function with the exact text (${inputs} inputs)`, () => {
    fc.assert(
      fc.property(input, anyText, (cb, text) => {
        if (!isCallbackName(cb)) return;
        expect(cb).toMatch(/^[\w$.]+$/);
        const call = callbackCall(cb, text);
        expect(call).not.toMatch(/<|[^\x20-\x7e]/);
        expect(JSON.parse(call.slice(cb.length + 1, -1))).toBe(text);
      }),
      runs(inputs),
    );
  });
});

describe('any response', { timeout: 600_000 }, () => {
  const page = new URL('http://a.example/p?q#f');

  test(`reading more of a page never changes its earlier redirects (${inputs} pages)`, () => {
    fc.assert(
      fc.property(markup, fc.double({ min: 0, max: 1, noNaN: true }), (whole, share) => {
        const all = readHtml(whole).refreshes;
        const beginning = readHtml(whole.slice(0, whole.length * share)).refreshes;
        expect(all.slice(0, beginning.length)).toEqual(beginning);
      }),
      runs(inputs),
    );
  });

  test(`cookies stay with their host and fit into a header (${inputs} chains)`, () => {
    const [other, https] = [new URL('http://b.test/x'), new URL('https://a.example/x')];
    fc.assert(
      fc.property(fc.array(cookie, { maxLength: 8 }), fc.boolean(), (lines, encrypted) => {
        const { keep, header } = chainCookies();
        keep(lines, encrypted ? https : page);
        expect(header(https)).toMatch(/^[\t -~\u0080-\u00ff]{0,17000}$/);
        expect(header(other)).toBe('');
        expect(header(page)).not.toMatch(/(?:^|; )__(?:Secure|Host)-/);
      }),
      runs(inputs),
    );
  });

  test(`a chain ends within 20 hops and requests no URL that the guard refuses (${chains} chains)`, async () => {
    const response = fc.record({
      status: fc.constantFrom(200, 200, 201, 301, 302, 303, 307, 308, 404, 405, 503),
      headers: fc.record({
        'content-type': fc.constant('text/html'),
        location: fc.option(input, { nil: undefined }),
        refresh: fc.option(refresh, { nil: undefined }),
        'set-cookie': fc.array(cookie, { maxLength: 2 }),
      }),
      body: markup.map((text) => Buffer.from(text)),
      addressFamily: fc.constant(4 as const),
      isCut: fc.boolean(),
      source: fc.constant(null),
    });
    const responses = fc.array(response, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(responses, async (responses) => {
        let requests = 0;
        const browse = createBrowse(async (url) => {
          guard.checkUrl(url);
          requests += 1;
          return responses[requests % responses.length] as (typeof responses)[0];
        });
        const { chain } = createExpand(followRedirects(browse));
        const { hops, longUrl } = await chain(page.href, { follow: 'all' });
        expect(hops.length).toBeLessThanOrEqual(20);
        expect(longUrl).toMatch(/^https?:/);
        expect(longUrl).toMatch(printable);
      }),
      runs(chains),
    );
  });
});
