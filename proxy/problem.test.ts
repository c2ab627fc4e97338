import http, { STATUS_CODES } from 'node:http';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { type RequestOptions, send } from '@longhand/shared/testing/send.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { openapi } from '../tasks/src/web/openapi.ts';
import { startProxied } from './testing/proxied.ts';

/** The tasks API promises problem details (RFC 9457), even for errors from nginx. */
describe('A proxy error', async () => {
  const application = http.createServer((request) => {
    if (request.url?.includes('/break')) request.socket.destroy();
  });
  const away = { LONGHAND_EXPANDER_SERVER: `127.0.0.1:${await freePort()} max_fails=0` };
  const proxy = await startProxied(application, away, (text) =>
    text.replace('proxy_read_timeout 2s', 'proxy_read_timeout 200ms'),
  );
  afterAll(proxy.stop);

  const json = { Accept: 'application/json' };
  const codes = JSON.parse(openapi()).components.schemas.Problem.properties.code.enum;

  test.each<[status: number, code: string, path: string, options: RequestOptions]>([
    [405, 'method_not_allowed', '/tasks', { method: 'TRACE' }],
    [413, 'body_too_large', '/tasks', { method: 'POST', body: 'x'.repeat(65_537) }],
    [421, 'unknown_host', '/tasks', { host: 'public.example' }],
    [431, 'headers_too_large', '/tasks', { headers: { 'X-Long': 'x'.repeat(40_000) } }],
    [502, 'unreachable', '/break', {}],
    [502, 'unreachable', '/break', { method: 'PUT' }],
    [504, 'timeout', '/hang', {}],
  ])(
    '%i is a problem document for JSON clients and a page for browsers',
    async (status, code, path, options) => {
      const headers = { ...json, ...options.headers };
      const response = await send(proxy.ports.tasks, path, { ...options, headers });
      expect(response.status).toBe(status);
      expect(response.headers['content-type']).toBe('application/problem+json');
      const problem = JSON.parse(response.body);
      // The tasks service returns the same fields.
      expect(Object.keys(problem)).toEqual(['type', 'title', 'status', 'detail', 'code']);
      expect(problem).toMatchObject({ type: 'about:blank', title: STATUS_CODES[status], status, code });
      expect(codes).toContain(problem.code);
      expect(problem.detail).toMatch(/^[A-Z].*\.$/);
      expect(response.headers['cache-control']).toBe('no-store');

      const page = await send(proxy.ports.tasks, path, options);
      expect([page.status, page.headers['content-type']]).toEqual([status, 'text/html']);
      const [, reason = '', advice] = /<h1>(.*)<\/h1>\s+(?:<p>(.+)<\/p>)?/.exec(page.body) ?? [];
      expect(problem.detail).toSatisfy((detail: string) => [reason, `${reason} ${advice}`].includes(detail));
      expect(page.body).toContain(`<title>${reason.slice(0, -1)} · Tasks</title>`);
      expect(page.headers['cache-control']).toBe('no-store');
    },
  );

  test.each([
    [400, '/..'],
    [414, `/${'x'.repeat(40_000)}`],
  ])('%i is always a page, because nginx has not read the headers', async (status, path) => {
    const response = await send(proxy.ports.tasks, path, { headers: json });
    expect([response.status, response.headers['content-type']]).toEqual([status, 'text/html']);
    expect(response.body).toMatch(/<h1>The (request is malformed|address is too long)\.<\/h1>/);
  });

  /** Returns the link texts and targets on the page at `url`. */
  const linksOf = (body: string, url: string) =>
    Array.from(body.matchAll(/<a [^>]*href="([^"]*)">([^<]+)/g), ([, href = '', text]) => [
      text,
      new URL(href, url).href,
    ]);

  type Ways = Record<string, string>;
  const [expander, tasks] = [{ 'Back to the start page': '/' }, { 'Back to the list': '/' }];
  test.each<[name: 'expander' | 'tasks' | 'all', path: string, options: RequestOptions, ways: Ways]>([
    ['expander', '/?u=a%26b&x="<b>', {}, { 'Try again': '/?u=a%26b&x=%22%3Cb%3E', ...expander }],
    ['tasks', '//evil.example/break?', {}, { 'Try again': '//evil.example/break?', ...tasks }],
    ['tasks', '/break', { method: 'POST' }, tasks],
    ['tasks', '/tasks', { method: 'TRACE' }, tasks],
    ['tasks', '/?filter=open', { host: 'nas.example' }, { 'Try again': '/?filter=open' }],
    ['all', '/nowhere?x', {}, { 'Back to the start page': '/' }],
  ])('on the `%s` port has the right links for %s', async (name, path, options, ways) => {
    const origin = `http://127.0.0.1:${proxy.ports[name]}`;
    const { body } = await send(proxy.ports[name], path, options);
    const expected = Object.entries(ways).map(([text, to]) => [text, origin + to]);
    expect(linksOf(body, origin + path)).toEqual(expected);
    expect(body.includes('Your browser’s Back button brings back what you wrote.')).toBe(
      options.method === 'POST',
    );
  });

  test('the 421 page shows the setting that allows the host name', async () => {
    const { body } = await send(proxy.ports.tasks, '/', { host: 'nas.example:8082' });
    expect(body).toContain('<code>LONGHAND_TASKS_NAME=nas.example</code>');
  });

  test.each<[isJson: boolean, accept?: string, contentType?: string]>([
    [true, 'application/json'],
    [true, 'text/plain, application/problem+json;q=0.5'],
    [true, '*/*', 'application/json; charset=utf-8'],
    [true, undefined, 'application/json'],
    [true, 'application/json', 'text/html'],
    [false, 'text/html, application/json'],
    [false, 'application/json, text/html;q=0.5'],
    [false, 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
    [false, '*/*'],
    [false],
  ])(
    'is a problem document (%s) for Accept: %s and Content-Type: %s',
    async (isJson, accept, contentType) => {
      const headers = {
        ...(accept && { Accept: accept }),
        ...(contentType && { 'Content-Type': contentType }),
      };
      const response = await send(proxy.ports.tasks, '/break', { headers });
      expect(response.headers['content-type']).toBe(isJson ? 'application/problem+json' : 'text/html');
    },
  );

  test('is 502 for writes while all replicas are down', async () => {
    application.closeAllConnections();
    await new Promise((resolve) => application.close(resolve));
    const response = await send(proxy.ports.tasks, '/tasks/1', { method: 'DELETE', headers: json });
    expect(JSON.parse(response.body)).toMatchObject({ status: 502, code: 'unreachable' });
  });
});
