import { BlockList } from 'node:net';
import { seed } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testExpander } from '../testing/expander.ts';
import { mixed, words } from '../testing/pieces.ts';
import { ExpansionError } from './expansion/errors.ts';
import { isWeb } from './expansion/parse-url.ts';
import { readTarget, resolveLocation } from './expansion/target.ts';
import { createGuard } from './guard/public-address.ts';
import { percentEncoded } from './hop/fetch-hop.ts';
import { isCallbackName } from './web/api.ts';
import { callbackCall } from './web/formats.ts';

const inputs = rounds({ short: 5_000, long: 500_000 });
const chains = rounds({ short: 500, long: 50_000 });

/** What was typed: pieces that matter, random text, and both mixed. */
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

/** What may appear in a response body. */
const printable = /^[\x21\x23-\x3b\x3d\x3f-\x7e]*$/;
const guard = createGuard();

/** Addresses that no parser may let through, judged by Node's own list. */
const inside = new BlockList();
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['169.254.0.0', 16],
  ['0.0.0.0', 8],
] as const) {
  inside.addSubnet(network, prefix);
}

const localName = /(?:^|\.)(?:localhost|local|internal)\.?$/;

/** What `work` gives; undefined where it fails in the way it may. */
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

/** What the guard lets pass is neither a private address nor a local name. */
function judged(url: URL): void {
  const { hostname } = url;
  if (!allowed(() => guard.checkUrl(url) ?? true)) return;
  expect(inside.check(hostname)).toBe(false);
  expect(hostname).not.toMatch(localName);
  expect(hostname).not.toMatch(/^\[(?:::|f)/);
}

const runs = (numRuns: number) => ({ seed, numRuns });

describe('whatever comes in', { timeout: 600_000 }, () => {
  test(`a URL is refused with a sentence, or shown, judged and asked as one and the same (${inputs} inputs)`, () => {
    fc.assert(
      fc.property(input, (typed) => {
        const target = allowed(() => readTarget(typed));
        if (!target) return;
        expect(target.text).toMatch(printable);
        expect(new URL(target.text).href).toBe(target.url.href);
        expect(target.url.protocol).toMatch(/^https?:$/);
        judged(target.url);
      }),
      runs(inputs),
    );
  });

  test(`a Location leads nowhere, or to a URL shown as it is asked (${inputs} inputs)`, () => {
    fc.assert(
      fc.property(
        input,
        fc.constantFrom('http://a.example/x?y#z', 'https://b.example:8443'),
        (location, base) => {
          const next = resolveLocation(percentEncoded(location) ?? '', readTarget(base));
          if (!next) return;
          expect(next.text).toMatch(printable);
          // Of other schemes, which are only shown, the parser may leave markup as it is.
          if (!isWeb(next.url)) return;
          expect(next.text).toBe(next.url.href);
          judged(next.url);
        },
      ),
      runs(inputs),
    );
  });

  test(`a callback name is refused, or calls one function with the very string (${inputs} inputs)`, () => {
    fc.assert(
      fc.property(input, fc.string({ unit: 'binary' }), (cb, text) => {
        if (!isCallbackName(cb)) return;
        expect(cb).toMatch(/^[\w$.]+$/);
        const call = callbackCall(cb, text);
        expect(call).not.toMatch(/<|[^\x20-\x7e]/);
        expect(JSON.parse(call.slice(cb.length + 1, -1))).toBe(text);
      }),
      runs(inputs),
    );
  });

  test(`the API answers with a status of its table and a body without markup (${chains} requests)`, async () => {
    const lookup = (_name: string, _options: unknown, callback: (error: Error) => void) =>
      callback(Object.assign(new Error('no names in this test'), { code: 'ENOTFOUND' }));
    const { app, close } = testExpander({ lookup } as object, { EXPANDER_ALLOWED_NETWORKS: '' });
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(input, fc.option(input, { nil: '' }), async (u, cb) => {
        // Addresses that pass are real ones: nothing of this test may reach them.
        const target = allowed(() => readTarget(u));
        if (target && /^(?:\d+\.){3}\d+$|^\[/.test(target.url.hostname))
          fc.pre(!allowed(() => guard.checkUrl(target.url) ?? true));
        const query = new URLSearchParams({ u: u.toWellFormed(), cb: cb.toWellFormed() });
        const response = await app.request(`/api?${query}`);
        expect([200, 400, 403, 502]).toContain(response.status);
        expect(response.headers.get('content-type')).toBe('text/html');
        expect(await response.text()).not.toMatch(/[<>]|[^\x20-\x7e]/);
        statuses.add(response.status);
      }),
      runs(chains),
    );
    close();
    expect(statuses).toEqual(new Set([200, 400, 403, 502]));
  });
});
