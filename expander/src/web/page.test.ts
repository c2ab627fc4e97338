import { describe, expect, test, vi } from 'vitest';
import { redirectHop } from '../../testing/response.ts';
import { scriptedApp, to } from '../../testing/scripted-web.ts';
import { createExpand } from '../expansion/expand.ts';
import type { Hop } from '../expansion/expansion.ts';
import { createApp } from './app.ts';

const app = scriptedApp({ 'http://sho.rt/x': to('http://end.example/'), 'http://end.example/': {} });
const open = (u: string) => app.request(`/?${new URLSearchParams({ u })}`);

test.each([
  [200, ''],
  [200, 'sho.rt/x'],
  [400, 'http://'],
  [400, 'ftp://a.example/'],
  [502, 'nobody.example'],
])('the page has status %i and turns off nginx buffering: %s', async (status, u) => {
  const { status: shown, headers } = await open(u);
  expect([shown, headers.get('x-accel-buffering')]).toEqual([status, 'no']);
});

test('the page has a description and a valid data URL as icon', async () => {
  const html = await (await open('')).text();
  expect(html).toMatch(/<meta name="description" content="[^"]{50,160}">/);
  const [, icon = ''] = /<link rel="icon" href="([^"]*)">/.exec(html) ?? [];
  expect(icon).toMatch(/^data:image\/svg\+xml,[\w\-.~!*'()%]+$/);
  expect(decodeURIComponent(icon)).toContain('<path d="M2 8h8');
});

test('the page links to the front page and the manifest behind the proxy', async () => {
  const links = [
    '<a href="/longhand/">Longhand</a>',
    /<link rel="manifest" href="[^"]*" crossorigin="use-credentials">/,
  ];
  const response = await app.request('/', { headers: { 'X-Request-Id': '0'.repeat(32) } });
  expect(response.headers.get('content-security-policy')).toContain("manifest-src 'self'");
  const html = await response.text();
  for (const link of links) expect(html).toMatch(link);
  expect(await (await open('')).text()).not.toContain('/longhand/');
});

test.each([
  [{ url: 'http://sho.rt/x', text: 'An article', title: 'Title' }],
  [{ url: '', text: 'An article: http://sho.rt/x', title: 'Title' }],
  [{ title: 'http://sho.rt/x' }],
])('expands a link that another app shares: %j', async (shared) => {
  const response = await app.request(`/?${new URLSearchParams(shared as Record<string, string>)}`);
  expect(await response.text()).toContain('data-title="sho.rt → end.example');
});

test('the field is invalid and focused after an invalid URL', async () => {
  expect(await (await open('http://')).text()).toMatch(/<input[^>]* aria-invalid="true"[^>]* autofocus>/);
  expect(await (await open('sho.rt/x')).text()).not.toMatch(/<input[^>]* (aria-invalid|autofocus)/);
});

test('the page shows at most 2,000 characters of each URL, and always its domain', async () => {
  const long = `http://${'user'.repeat(1_000)}@www.end.example/?${'&a'.repeat(2_000)}`;
  const chain = scriptedApp({ 'http://sho.rt/x': to(long), [long]: {} });
  const html = await (await chain.request('/?u=sho.rt/x')).text();
  const [, hop = ''] = html.split('<li value="2"');
  const [shown = ''] = /<data.*?<\/data>/s.exec(hop) ?? [];
  expect(shown).toMatch(
    /user\w*…<\/span><span><span>www\.<\/span><\/span><wbr><span class="host"><b><span>end<\/span><wbr><span>\.example<\/span><\/b>/,
  );
  expect(shown).toMatch(/&amp;a.*…<\/span><\/span><\/data>$/);
  for (const text of [/value="([^"]*)"/.exec(shown)?.[1] ?? '', shown.replace(/<[^>]*>/g, '')])
    expect(text.replaceAll('&amp;', '&').trim().length).toBeLessThan(2_010);
});

test('the page explains how to send a URL that was not percent-encoded', async () => {
  const response = await app.request('/?u=http://a.example/?x=1&u=2');
  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(
    /aria-invalid[\s\S]*This is not a URL[\s\S]*percent-encode the URL\./,
  );
});

describe('an unexpected error', () => {
  /** Requests the page of an expansion that throws after `hops`. */
  const failing = (...hops: Hop[]) => {
    const error = vi.fn();
    const expand = createExpand(async (_, { onHop }) => {
      for (const hop of hops) onHop?.(hop);
      throw new Error('a fault');
    });
    return { error, response: createApp(expand, { log: { error } }).request('/?u=sho.rt/x') };
  };

  test('is reported on the page after the first hop', async () => {
    const { error, response } = failing(redirectHop);
    expect(await (await response).text()).toMatch(
      /Something went wrong\.<\/h2>\s*<p class="actions">\s*<a href="\/\?u=sho.rt%2Fx&amp;again=1">Try again</,
    );
    expect(error).toHaveBeenCalledWith({ err: new Error('a fault') }, 'fault');
  });

  test('returns status 500 before the first hop', async () => {
    expect((await failing().response).status).toBe(500);
  });
});
