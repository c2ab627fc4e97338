import { send, sendRaw, type TestResponse } from '@longhand/shared/testing/send.ts';
import { describe, expect, test } from 'vitest';
import type { TestStack } from '../testing/test-stack.ts';

/** Defines the tests of the expander behind the proxy. */
export function expanderRules(stack: () => TestStack): void {
  const get = (path: string, options = {}) => send(stack().expanderPort, path, options);
  const api = (u: string, more = '') => get(`/api?u=${encodeURIComponent(u)}${more}`);
  const link = (path: string) => `${stack().shortener}${path}`;

  describe("The expander's headers", () => {
    const responses: Record<string, () => Promise<TestResponse>> = {
      'the page': () => get('/'),
      'an expansion': () => api(link('/chain/1')),
      JSONP: () => api(link('/chain/1'), '&cb=f'),
      'JSONP with an error': () => api('http://10.0.0.1/', '&cb=f&err=g'),
      'an expansion as JSON': () => api(link('/chain/1'), '&format=json'),
      'the OpenAPI description': () => get('/openapi.json'),
      '404': () => get('/nowhere'),
      '403 from the application': () => api(link('/location?to=http://10.0.0.1/')),
      '502 from the application': () => api(link('/reset'), '&cb=f'),
      '504 from the application': () => api(link('/hang')),
      '413 from the proxy': () => get('/', { method: 'POST', body: 'x'.repeat(65_537) }),
      '414 from the proxy': () => get(`/${'x'.repeat(40_000)}`),
      '431 from the proxy': () => get('/', { headers: { 'X-Long': 'x'.repeat(40_000) } }),
      '405 from the proxy': () => get('/', { method: 'TRACE' }),
      '400 from the proxy': () => get('/..'),
    };
    describe.each(Object.entries(responses))('%s', (name, response) => {
      test('has X-Power-By, Content-Type and a strict Content-Security-Policy', async () => {
        const { status, headers, headerCount, body } = await response();
        expect(status).toBe(Number(/^\d{3}/.exec(name)?.[0] ?? 200));
        expect(headers['x-power-by']).toBe('Longhand');
        expect(headers['content-type']).toBe('text/html');
        expect([headerCount('x-power-by'), headerCount('content-type')]).toEqual([1, 1]);
        expect(headers['content-security-policy']).toMatch(/default-src 'none'/);
        expect(headers['content-security-policy']).not.toContain('unsafe');
        // The body is the application's plain text, not the proxy's error page.
        if (name.endsWith('application')) expect(body).toMatch(/^(?!f\()[^<>]{10,}$/);
        // Browsers do not run JSONP responses that have nosniff.
        expect(headers['x-content-type-options']).toBe(name.startsWith('JSONP') ? undefined : 'nosniff');
      });
    });

    test('a 400 for invalid HTTP has X-Power-By and Content-Type', async () => {
      const response = await sendRaw(stack().expanderPort, 'not HTTP at all\r\n\r\n');
      expect(response).toMatch(/^HTTP\/1\.1 400 /);
      expect(response).toMatch(/^X-Power-By: Longhand\r$/m);
      expect(response).toMatch(/^Content-Type: text\/html\r$/m);
    });
  });
}
