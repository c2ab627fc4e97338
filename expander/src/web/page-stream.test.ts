import { serve } from '@longhand/shared/serve.ts';
import { describe, expect, test, vi } from 'vitest';
import { scriptedApp, to } from '../../testing/scripted-web.ts';
import { createExpand, followRedirects } from '../expansion/expand.ts';
import type { Hop } from '../expansion/expansion.ts';
import { createApp } from './app.ts';
import { createPage } from './page.ts';
import { streamPage } from './page-stream.ts';

const page = createPage();
const hop = { url: 'http://sho.rt/x', status: 301, milliseconds: 1, mixedScripts: [] as string[] } as Hop;
const app = scriptedApp({ 'http://sho.rt/x': to('http://end.example/'), 'http://end.example/': {} });
const open = (u: string) => app.request(`/?${new URLSearchParams({ u })}`);

test.each([
  [200, ''],
  [200, 'sho.rt/x'],
  [400, 'http://'],
  [400, 'ftp://a.example/'],
  [502, 'nobody.example'],
])('the status of the page is %i: %s', async (status, u) => {
  expect((await open(u)).status).toBe(status);
});

test('a proxy is told to pass the page on as it comes', async () => {
  expect((await open('sho.rt/x')).headers.get('x-accel-buffering')).toBe('no');
});

test('the head says what the page is for, and its icon is a valid URL', async () => {
  const html = await (await open('')).text();
  expect(html).toMatch(/<meta name="description" content="[^"]{50,160}">/);
  const [, icon = ''] = /<link rel="icon" href="([^"]*)">/.exec(html) ?? [];
  expect(icon).toMatch(/^data:image\/svg\+xml,[\w\-.~!*'()%]+$/);
  expect(decodeURIComponent(icon)).toContain('<path d="M2 8h8');
});

test('what is no URL is marked as invalid in its input, which has the focus', async () => {
  expect(await (await open('http://')).text()).toMatch(/<input[^>]* aria-invalid="true"[^>]* autofocus>/);
  expect(await (await open('sho.rt/x')).text()).not.toMatch(/<input[^>]* (aria-invalid|autofocus)/);
});

describe('a fault of ours', () => {
  test('after the first hop is told in the page, which ends', async () => {
    const onFault = vi.fn();
    const failing = async (onHop: (hop: Hop) => void) => {
      onHop(hop);
      throw new Error('a fault');
    };
    const { body } = await streamPage({ page, u: 'sho.rt/x' }, failing, onFault);
    expect(await new Response(body).text()).toMatch(/Something went wrong here\.<\/h2>$/);
    expect(onFault).toHaveBeenCalledWith(new Error('a fault'));
  });

  test('before it is an error like any other', async () => {
    const failing = streamPage({ page, u: 'sho.rt/x' }, () => Promise.reject(new Error('a fault')), vi.fn());
    await expect(failing).rejects.toThrow('a fault');
  });
});

test('a reader who goes away ends the chain', async () => {
  const asked = Promise.withResolvers<AbortSignal>();
  const unshorten = followRedirects(async (url, { signal }) => {
    if (url.pathname === '/x')
      return { ...hop, status: 301, location: '/hang', method: 'HEAD', addressFamily: 4 };
    if (signal) asked.resolve(signal);
    return new Promise(() => {});
  });
  const stop = new AbortController();
  const slow = createApp(createExpand(unshorten));
  const { port } = await serve(slow, { host: '127.0.0.1', port: 0, signal: stop.signal });
  const leaving = new AbortController();
  const answer = await fetch(`http://127.0.0.1:${port}/?u=sho.rt/x`, { signal: leaving.signal });
  expect(answer.status).toBe(200);
  const signal = await asked.promise;
  expect(signal.aborted).toBe(false);
  leaving.abort();
  await expect.poll(() => signal.aborted).toBe(true);
  stop.abort();
});
