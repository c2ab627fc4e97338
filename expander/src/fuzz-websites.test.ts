import { seed } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mixed, words } from '../testing/pieces.ts';
import { chainCookies } from './expansion/cookies.ts';
import { createExpand, followRedirects } from './expansion/expand.ts';
import { createGuard } from './guard/public-address.ts';
import { createBrowse } from './hop/browse.ts';
import type { Response } from './hop/exchange.ts';
import { readHtml } from './hop/meta-refresh.ts';
import { readPage } from './hop/page.ts';

const inputs = rounds({ short: 500, long: 100_000 });
const chains = rounds({ short: 150, long: 30_000 });
const runs = (numRuns: number) => ({ seed, numRuns });

const url = mixed([
  ...words`/ // \ x ? # . .. : @ % %zz %00 " ' < > |
    http: https:// javascript: data:, mailto: a.example b.example 127.0.0.1 [::1] ü`,
  ...[' ', '\t', '\n'],
]);
const refresh = fc
  .tuple(mixed(['0', '1', '15', '16', '.', '-', ' ', ';', ',', 'url', '=', '"', "'"], 6), url)
  .map(([start, rest]) => start + rest);
const meta = refresh.map(
  (content) => `<meta http-equiv=refresh content="${content.replaceAll('"', '&quot;')}">`,
);
const markup = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: meta },
      {
        weight: 5,
        arbitrary: mixed([
          ...words`<!-- --> --!> <![CDATA[ ]]> <? < > /> </ &lt; &#0; <script> </script> <textarea> </textarea>
            <template> </template> <title> </title> <noscript> <style> <svg> </svg> <math> <select> <table>
            <frameset> <plaintext> /b/"> "0;url=/x"`,
          ...[
            '<!doctype html>',
            '<base href="',
            '<meta http-equiv=refresh content=',
            '<p a=b ',
            '\0',
            '\ud800',
          ],
        ]),
      },
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));
const cookie = mixed([
  ...words`a b = 1 ; " , ü __Host- __Secure- / /x a.example .example example -1 0`,
  ...['; Path=', '; Domain=', '; Secure', '; HttpOnly', '; SameSite=None', '; Max-Age=', '; Expires='],
  ...['Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 01 Jan 2100 00:00:00 GMT', 'x'.repeat(3_000)],
  ...[' ', '\t', '\r', '\0'],
]);

describe('whatever a website sends', { timeout: 600_000 }, () => {
  const page = new URL('http://a.example/p?q#f');
  const html = {
    status: 200,
    headers: { 'content-type': 'text/html' },
    minorVersion: 1,
    addressFamily: 4,
  } as const;

  test(`a page leads nowhere, or to a URL that runs nothing (${inputs} pages)`, () => {
    fc.assert(
      fc.property(markup, fc.option(refresh), (body, field) => {
        const headers = { ...html.headers, ...(field === null ? {} : { refresh: field }) };
        const found = readPage(page, { ...html, headers }, Buffer.from(body)).refresh;
        if (found === null || found.url === '') return;
        expect(new URL(found.url).protocol).not.toBe('javascript:');
      }),
      runs(inputs),
    );
  });

  test(`more of a page changes nothing of what its beginning says (${inputs} pages)`, () => {
    fc.assert(
      fc.property(markup, fc.double({ min: 0, max: 1, noNaN: true }), (whole, share) => {
        const all = readHtml(whole).refreshes;
        const beginning = readHtml(whole.slice(0, whole.length * share)).refreshes;
        expect(all.slice(0, beginning.length)).toEqual(beginning);
      }),
      runs(inputs),
    );
  });

  test(`what is no element of the page leads nowhere (${inputs} pages)`, () => {
    const hidden = [
      ['<!-- ', /--!?>/],
      ...['textarea', 'title', 'style', 'noscript', 'xmp'].map((name) => [
        `<${name}>`,
        new RegExp(`</${name}`, 'i'),
      ]),
    ] as [string, RegExp][];
    fc.assert(
      fc.property(markup, fc.constantFrom(...hidden), (inside, [start, end]) => {
        fc.pre(!end.test(inside));
        expect(readHtml(start + inside).refreshes).toEqual([]);
      }),
      runs(inputs),
    );
  });

  test(`cookies stay with their host, as text that a header may hold, and bounded (${inputs} chains)`, () => {
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

  test(`a chain ends within 20 hops and asks nothing that the guard refuses (${chains} chains)`, async () => {
    const guard = createGuard();
    const response = fc.record({
      status: fc.constantFrom(200, 200, 201, 301, 302, 303, 307, 308, 404, 405, 503),
      location: fc.option(url),
      refresh: fc.option(refresh),
      cookies: fc.array(cookie, { maxLength: 2 }),
      body: markup,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(response, { minLength: 1, maxLength: 6 }), async (responses) => {
        let asked = 0;
        const browse = createBrowse(async (url): Promise<Response> => {
          guard.checkUrl(url);
          const { location, refresh, cookies, body, ...rest } = responses[
            asked % responses.length
          ] as (typeof responses)[0];
          asked += 1;
          const headers = {
            'content-type': 'text/html',
            ...(location !== null && { location }),
            ...(refresh !== null && { refresh }),
            'set-cookie': cookies,
          };
          return { ...html, ...rest, headers, body: Buffer.from(body) };
        });
        const { trace } = createExpand(followRedirects(browse));
        const { hops, longUrl } = await trace(page.href, { follow: 'all' });
        expect(hops.length).toBeLessThanOrEqual(20);
        expect(longUrl).toMatch(/^https?:[\x21\x23-\x3b\x3d\x3f-\x7e]*$/);
      }),
      runs(chains),
    );
  });
});
