import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { responseWith } from '../../testing/response.ts';
import { followRedirects } from './chain.ts';
import { ExpansionError } from './errors.ts';
import { createExpand } from './expand.ts';
import type { FetchHop, Hop, HopResponse } from './expansion.ts';

type Web = Record<string, Partial<HopResponse> | ExpansionError>;

/** Creates an expander for `pages` and lists the URLs that it requests. */
function web(pages: Web) {
  const requests: string[] = [];
  const fetchHop: FetchHop = async ({ href }) => {
    requests.push(href);
    const answer = pages[href] ?? pages[href.replace(/#.*/, '')] ?? { status: 200 };
    if (answer instanceof Error) throw answer;
    return responseWith({ status: 301, ...answer });
  };
  return { requests, expand: createExpand(followRedirects(fetchHop)) };
}

const called = (expand: ReturnType<typeof createExpand>, url: string) =>
  new Promise<unknown[]>((resolve) => expand(url, (...result) => resolve(result)));

const to = (location: string, status = 301) => ({ status, location });

const chain = (length: number): Web =>
  Object.fromEntries(
    Array.from({ length }, (_, i) => [`http://h.example/${i}`, to(`http://h.example/${i + 1}`)]),
  );

describe('Expansion procedure, rule 2', () => {
  test.each([301, 302])('follows a %i to its location and counts it', async (status) => {
    const { expand } = web({ 'http://a.example/': to('http://b.example/x', status) });
    expect(await called(expand, 'http://a.example/')).toEqual([null, 'http://b.example/x', 1]);
  });

  test('reaches the end of a chain with maxRedirect redirects', async () => {
    const { expand, requests } = web(chain(5));
    expect(await called(expand, 'http://h.example/0')).toEqual([null, 'http://h.example/5', 5]);
    expect(requests).toHaveLength(6);
  });

  test('does not request the location of a redirect that exceeds maxRedirect', async () => {
    const { expand, requests } = web(chain(9));
    expect(await called(expand, 'http://h.example/0')).toEqual([null, 'http://h.example/6', 6]);
    expect(requests.at(-1)).toBe('http://h.example/5');
  });

  test('maxRedirect is 5 by default and can be changed', async () => {
    const { expand } = web(chain(9));
    expect(expand.maxRedirect).toBe(5);
    expand.maxRedirect = 0;
    expect(await called(expand, 'http://h.example/0')).toEqual([null, 'http://h.example/1', 1]);
    expand.maxRedirect = 8;
    expect(await called(expand, 'http://h.example/0')).toEqual([null, 'http://h.example/9', 9]);
  });

  test('follows a loop up to maxRedirect and reports a loop', async () => {
    const { expand, requests } = web({ 'http://a.example/': to('/') });
    expect(await called(expand, 'http://a.example/')).toEqual([null, 'http://a.example/', 6]);
    expect(requests).toHaveLength(6);
    expect((await expand.chain('http://a.example/')).end.code).toBe('loop');
  });

  test.each([
    ['missing', null, 'no_location'],
    ['empty', ' ', 'no_location'],
    ['malformed', 'http://[', 'malformed_location'],
    ['an email address', 'mailto:a@b.example', 'unsupported_scheme'],
    ['a script', 'javascript:alert(1)', 'unsupported_scheme'],
  ])('ends without an error if the location is %s', async (_, location, code) => {
    const { expand } = web({ 'http://a.example/': to('/b', 302), 'http://a.example/b': { location } });
    expect(await called(expand, 'http://a.example/')).toEqual([null, 'http://a.example/b', 1]);
    const { end } = await expand.chain('http://a.example/');
    expect(end.code).toBe(code);
    expect(end.target).toBe(location?.trim() || undefined);
  });
});

describe('Expansion procedure, rule 3', () => {
  test.each([200, 204, 300, 303, 304, 307, 308, 404, 500])(
    'finishes at a %i with the current URL and no error',
    async (status) => {
      const { expand, requests } = web({ 'http://a.example/': to('http://b.example/', status) });
      expect(await called(expand, 'http://a.example/')).toEqual([null, 'http://a.example/', 0]);
      expect(requests).toHaveLength(1);
    },
  );
});

describe('Expansion procedure, rule 4', () => {
  test.each(['http://a.example', 'http://A.example/', 'https://a.example:443/x?y#z'])(
    'a URL without a redirect yields itself with counter 0: %s',
    async (url) => {
      expect(await called(web({}).expand, url)).toEqual([null, url, 0]);
    },
  );
});

describe('Expansion procedure, rule 5', () => {
  test('returns the error, current URL and counter if a request fails', async () => {
    const error = new ExpansionError('request_failed', 'b.example refused the connection.');
    const { expand } = web({ 'http://a.example/': to('http://b.example/x'), 'http://b.example/x': error });
    expect(await called(expand, 'http://a.example/')).toEqual([error, 'http://b.example/x', 1]);
  });

  test('fails for a URL with another scheme', async () => {
    const [error, longUrl, count] = await called(web({}).expand, 'mailto:a@b.example');
    expect(error).toMatchObject({ code: 'unsupported_scheme' });
    expect([longUrl, count]).toEqual(['mailto:a@b.example', 0]);
  });
});

describe('Expansion procedure, rule 6', () => {
  test.each(['', ' \n'])('an empty-string input finishes with no error and no URL: %j', async (input) => {
    expect(await called(web({}).expand, input)).toEqual([null, null, 0]);
  });
});

describe('Expansion procedure, rule 7', () => {
  test.each([
    ...[null, undefined, 42].map((input) => ['input', input, () => {}]),
    ...[null, undefined, 'callback'].map((callback) => ['callback', 'http://a.example/', callback]),
  ])('a missing %s raises a TypeError to the caller: %s, %s', (_, input, callback) => {
    const { expand, requests } = web({});
    expect(() => expand(input as never, callback as never)).toThrow(TypeError);
    expect(requests).toEqual([]);
  });
});

describe('Expansion procedure, rule 8', () => {
  test('a URL shortened through two successive redirects yields counter 2', async () => {
    const { expand } = web({
      'http://s.example/1': to('http://t.example/2', 302),
      'http://t.example/2': to('http://long.example/page', 301),
    });
    expect(await called(expand, 'http://s.example/1')).toEqual([null, 'http://long.example/page', 2]);
  });
});

test('expand supports util.promisify', async () => {
  const expand = promisify(web({ 'http://a.example/': to('/b') }).expand);
  expect(await expand('http://a.example/')).toEqual({ longUrl: 'http://a.example/b', redirectCount: 1 });
  await expect(expand('mailto:x')).rejects.toMatchObject({ code: 'unsupported_scheme' });
  await expect(expand(null as never)).rejects.toThrow(TypeError);
});

describe('follow=all', () => {
  const follow = (pages: Web, url: string) => web(pages).expand.chain(url, { follow: 'all' });

  test('requests up to 20 URLs regardless of maxRedirect', async () => {
    const pages = chain(30);
    const { end, longUrl, redirectCount, hops } = await follow(pages, 'http://h.example/10');
    expect([end.code, longUrl, redirectCount]).toEqual(['max_redirects', 'http://h.example/30', 20]);
    expect(hops).toHaveLength(20);
    expect((await follow(pages, 'http://h.example/11')).end.code).toBe('final');
  });

  test('stops a loop once a repeated URL redirects to an earlier URL', async () => {
    const { expand, requests } = web({ 'http://a.example/': to('/b'), 'http://a.example/b': to('/#x') });
    const { end, redirectCount } = await expand.chain('http://a.example/', { follow: 'all' });
    expect([end.code, redirectCount, requests.length]).toEqual(['loop', 3, 3]);
  });

  test('requests a URL a second time, without the cache, because the response may differ', async () => {
    const responses = [to('/#again', 302), { status: 200 }];
    const asked: (boolean | undefined)[] = [];
    const fetchHop: FetchHop = async (_, { isRepeated }) => {
      asked.push(isRepeated);
      return responseWith(responses.shift() ?? {});
    };
    const { end } = await createExpand(followRedirects(fetchHop)).chain('http://a.example/', {
      follow: 'all',
    });
    expect([end.code, asked.map(Boolean)]).toEqual(['final', [false, true]]);
  });

  test('skips HEAD at a website that the chain has been at, and for the last request', async () => {
    const skipped: string[] = [];
    const pages: Web = {
      'http://a.example/': to('https://a.example/'),
      'https://a.example/': to('http://b.example/'),
      'http://b.example/': to('http://www.b.example/'),
      'http://www.b.example/': to('https://www.b.example/'),
      'https://www.b.example/': to('http://c0.example/'),
      ...Object.fromEntries(
        Array.from({ length: 20 }, (_, i) => [`http://c${i}.example/`, to(`http://c${i + 1}.example/`)]),
      ),
    };
    const fetchHop: FetchHop = async ({ href }, { skipHead }) => {
      if (skipHead) skipped.push(href);
      return responseWith(pages[href] as Partial<HopResponse>);
    };
    await createExpand(followRedirects(fetchHop)).chain('http://a.example/', { follow: 'all' });
    expect(skipped).toEqual(['http://www.b.example/', 'https://www.b.example/', 'http://c14.example/']);
  });
});

describe('a refresh', () => {
  const page = (kind: 'refresh' | 'meta', url: string): Partial<HopResponse> => ({
    status: 200,
    refresh: { kind, url },
  });

  test('can be part of a loop with follow=all', async () => {
    const pages = {
      'http://a.example/': page('meta', 'http://b.example/'),
      'http://b.example/': page('refresh', 'http://a.example/'),
    };
    const expansion = await web(pages).expand.chain('http://a.example/#part', { follow: 'all' });
    expect(expansion).toMatchObject({
      longUrl: 'http://b.example/',
      redirectCount: 3,
      end: { code: 'loop' },
    });
    expect(expansion.hops.map(({ kind }) => kind)).toEqual(['meta', 'refresh', 'meta']);
  });

  test('ends a follow=all chain if the target has an unsupported scheme', async () => {
    const { expand } = web({ 'http://a.example/': page('meta', 'mailto:a@b.example') });
    const { end, longUrl } = await expand.chain('http://a.example/', { follow: 'all' });
    expect(end).toMatchObject({ code: 'unsupported_scheme', target: 'mailto:a@b.example' });
    expect(longUrl).toBe('http://a.example/');
  });

  test('is ignored without follow=all', async () => {
    const pages = { 'http://a.example/': page('meta', 'http://b.example/') };
    expect(await called(web(pages).expand, 'http://a.example/')).toEqual([null, 'http://a.example/', 0]);
  });
});

describe('a wrapper', () => {
  const wrapped = (url: string) => `https://l.facebook.com/l.php?u=${encodeURIComponent(url)}`;

  test('is not requested with follow=all', async () => {
    const { expand, requests } = web({ 'http://s.example/': to(wrapped(wrapped('http://end.example/x'))) });
    const { hops, longUrl, redirectCount } = await expand.chain('http://s.example/#part', { follow: 'all' });
    expect([longUrl, redirectCount]).toEqual(['http://end.example/x#part', 3]);
    expect(requests).toEqual(['http://s.example/#part', 'http://end.example/x#part']);
    expect(hops[2]).toMatchObject({
      ...{ kind: 'wrapper', wrapper: 'Facebook', status: null, method: null },
      ...{ location: 'http://end.example/x', downgrade: true, domainChanged: true },
    });
  });

  test('is requested without follow=all', async () => {
    const { expand, requests } = web({});
    const url = wrapped('http://end.example/');
    expect(await called(expand, url)).toEqual([null, url, 0]);
    expect(requests).toEqual([url]);
  });
});

describe('the chain', () => {
  test('reports every hop and flags a downgrade to http', async () => {
    const { expand } = web({
      'https://a.example/': to('http://b.example/'),
      'http://b.example/': to('https://c.example/', 302),
    });
    const reported: Hop[] = [];
    const { hops } = await expand.chain('https://a.example/', { onHop: (hop) => reported.push(hop) });
    expect(reported).toEqual(hops);
    expect(hops.map(({ url, kind, status, tls, downgrade }) => [url, kind, status, tls, downgrade])).toEqual([
      ['https://a.example/', '301', 301, true, true],
      ['http://b.example/', '302', 302, false, false],
      ['https://c.example/', null, 200, true, false],
    ]);
  });

  test.each([
    ['http://www.example.co.uk/', 'https://example.co.uk/', false],
    ['http://www.example.co.uk/', 'https://other.co.uk/', true],
    ['http://a.github.io/', 'http://b.github.io/', true],
    ['http://192.0.2.1/', 'http://192.0.2.2/', true],
    ['http://192.0.2.1/', 'http://192.0.2.1/x', false],
    ['http://localhost/', 'http://other/', true],
  ])('flags a redirect to another registrable domain: %s to %s: %s', async (from, location, changed) => {
    const { hops } = await web({ [from]: to(location) }).expand.chain(from);
    expect(hops.map(({ domainChanged }) => domainChanged)).toEqual([changed, false]);
  });

  test('ends with the code "aborted" if its signal aborts', async () => {
    const abort = new AbortController();
    const fetchHop: FetchHop = (_, { chain: { signal } }) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const expansion = createExpand(followRedirects(fetchHop)).chain('http://a.example/', {
      signal: abort.signal,
    });
    abort.abort();
    expect((await expansion).error?.code).toBe('aborted');
  });
});

test('a chain times out after 8 s and returns its current URL', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const fetchHop: FetchHop = ({ pathname }, { chain: { signal } }) =>
    new Promise((resolve, reject) => {
      setTimeout(() => resolve(responseWith({ status: 301, location: `${pathname}x` })), 2_500);
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  const expansion = createExpand(followRedirects(fetchHop)).chain('http://a.example/');
  await vi.advanceTimersByTimeAsync(8_000);
  expect(await expansion).toMatchObject({
    longUrl: 'http://a.example/xxx',
    redirectCount: 3,
    error: { code: 'timeout' },
  });
});
