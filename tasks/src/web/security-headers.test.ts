import { afterAll, beforeAll, expect, test } from 'vitest';
import { submit, testApp, visit } from '../../testing/app.ts';
import { startStore } from '../../testing/store.ts';
import { TaskError } from '../task/errors.ts';
import { securityHeaders } from './security-headers.ts';

let kept: Awaited<ReturnType<typeof startStore>>;
let app: ReturnType<typeof testApp>;

beforeAll(async () => {
  kept = await startStore();
  app = testApp(kept.store);
  await kept.store.create({ title: 'milk' }, new Date());
});
afterAll(() => kept.stop());

const get = (path: string, headers: Record<string, string> = {}) => app.request(path, { headers });
const method = (name: string, path: string, headers: Record<string, string> = {}, body?: string) =>
  app.request(path, { method: name, headers, ...(body && { body }) });
const broken = (error: Error) => testApp({ ...kept.store, list: () => Promise.reject(error) });
const json = { Accept: 'application/json' };

test.each<[string, number, () => Response | Promise<Response>]>([
  ['the list', 200, () => get('/')],
  ['the list, asked for by HEAD', 200, () => method('HEAD', '/')],
  ['the list alone', 200, () => get('/tasks/partial')],
  ['the list as JSON', 200, () => get('/tasks', json)],
  ['a task', 200, () => get('/tasks/1')],
  ['a form', 200, () => get('/tasks/1/edit')],
  ['a form to import', 200, () => get('/tasks/import')],
  ['an export', 200, () => get('/tasks/export')],
  ['events', 200, () => get('/tasks/events')],
  ['events, asked for by HEAD', 200, () => method('HEAD', '/tasks/events')],
  ['a public file', 200, () => get('/public/style.css')],
  ['the description', 200, () => get('/openapi.json')],
  [
    'a task as JSON, added',
    201,
    () =>
      app.request('/tasks', {
        method: 'POST',
        body: '{"title":"x"}',
        headers: { 'Content-Type': 'application/json' },
      }),
  ],
  ['a redirect after a link', 302, () => get('/task/1/finish')],
  ['a redirect after a form', 302, async () => submit(app, '/task', { title: 'x' }, await visit(app))],
  [
    'a redirect after a removal',
    303,
    async () => submit(app, '/tasks/2', { _method: 'DELETE' }, await visit(app)),
  ],
  ['an unchanged public file', 304, () => get('/public/style.css', { 'If-None-Match': '*' })],
  [
    'an unchanged task',
    304,
    async () =>
      get('/tasks/1', { ...json, 'If-None-Match': (await get('/tasks/1', json)).headers.get('etag') ?? '' }),
  ],
  ['a bad filter', 400, () => get('/?filter=x')],
  ['a form without a token', 403, () => submit(app, '/task', { title: 'x' })],
  ['a prefetch', 403, () => get('/task/1/finish', { Purpose: 'prefetch' })],
  ['an unknown path', 404, () => get('/nothing')],
  ['an unknown task as JSON', 404, () => get('/tasks/99', json)],
  ['an unknown public file', 404, () => get('/public/nothing')],
  ['another method', 405, () => method('PUT', '/')],
  ['another method of a name', 405, () => method('PUT', '/tasks/import', json)],
  ['a long body', 413, () => submit(app, '/task', { title: 'x'.repeat(64 * 1024) })],
  [
    'a long body from elsewhere',
    413,
    () =>
      submit(app, '/task', { title: 'x'.repeat(64 * 1024) }, undefined, { Origin: 'http://evil.example' }),
  ],
  ['another type', 415, () => method('POST', '/task', { 'Content-Type': 'text/plain' })],
  ['a blank title', 422, async () => submit(app, '/task', { title: ' ' }, await visit(app))],
  [
    'a write without a revision',
    428,
    () => method('PUT', '/tasks/1', { 'Content-Type': 'application/json' }, '{}'),
  ],
  ['a fault of ours', 500, () => broken(new Error('x')).request('/')],
  ['a store that is away', 503, () => broken(new TaskError('store_unavailable', 'away')).request('/')],
])('%s (%i) has every one of them', async (_case, status, ask) => {
  const response = await ask();
  expect(response.status).toBe(status);
  expect(Object.fromEntries(response.headers)).toMatchObject(
    Object.fromEntries(Object.entries(securityHeaders).map(([name, value]) => [name.toLowerCase(), value])),
  );
  await response.body?.cancel();
});

test('they let nothing in but our own files, and send nothing to others', () => {
  expect(securityHeaders).toEqual({
    'Content-Security-Policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
      "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Origin-Agent-Cluster': '?1',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
});
