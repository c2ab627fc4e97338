import { once } from 'node:events';
import http from 'node:http';
import { expect, test } from 'vitest';
import { useReplica } from '../../testing/replica.ts';

const kept = useReplica();

test.each([
  ['task', { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '1000' }],
  ['task', { 'Content-Type': 'application/x-www-form-urlencoded' }],
  ['tasks', { 'Content-Type': 'application/json', 'Content-Length': '1000' }],
  ['tasks/import', { 'Content-Type': 'application/x-ndjson' }],
])('a disconnect during POST /%s (%o) is logged as 499, not as an error', async (path, type) => {
  const { log, url } = kept.service;
  log.splice(0);
  const headers = { ...type, Expect: '100-continue' };
  const request = http.request(`${url}${path}`, { method: 'POST', headers }).on('error', () => {});
  // Now the service is waiting for the body.
  request.on('continue', () => request.write('{"title":', () => request.destroy()));
  request.flushHeaders();
  const gone = () => log.filter(({ status }) => status === 499);
  await expect.poll(gone).toMatchObject([{ level: 30, path: `/${path}` }]);
  expect(log.filter(({ level }) => level === 50)).toEqual([]);
});

test.each([
  [403, 'POST', 'task', { 'Sec-Fetch-Site': 'cross-site' }],
  [403, 'PUT', 'tasks/1', { Origin: 'http://evil.example', 'Content-Type': 'application/json' }],
  [403, 'POST', 'tasks/import', { 'Sec-Fetch-Site': 'cross-site', 'Content-Type': 'multipart/form-data' }],
  [403, 'POST', 'tasks/import', { 'Content-Type': 'text/plain' }],
  [415, 'POST', 'tasks', { 'Content-Type': 'text/html' }],
  [415, 'POST', 'tasks/import', { 'Content-Type': 'text/html' }],
  [405, 'PATCH', 'tasks/import', {}],
  [404, 'POST', 'nowhere', {}],
])('%i does not wait for the body: %s /%s %o', async (status, method, path, headers) => {
  const request = http.request(`${kept.service.url}${path}`, {
    method,
    headers: { ...headers, 'Content-Length': '1000' },
  });
  request.on('error', () => {}).flushHeaders();
  const [response] = await once(request, 'response');
  expect(response.statusCode).toBe(status);
  request.destroy();
});

test('an import ends when its client disconnects', async () => {
  const { service, store } = kept;
  service.log.splice(0);
  const headers = { 'Content-Type': 'application/x-ndjson' };
  const request = http.request(`${service.url}tasks/import`, { method: 'POST', headers });
  request.on('error', () => {});
  request.end(`${'\n'.repeat(1_000_000)}{"title":"milk"}`, () => request.destroy());
  await expect.poll(() => service.log).toMatchObject([{ status: 499, path: '/tasks/import' }]);
  // This import would be refused while the first is running.
  const again = { method: 'POST', headers, body: '{"title":"tea"}' };
  await expect.poll(async () => (await fetch(`${service.url}tasks/import`, again)).status).toBe(200);
  expect((await store.list({ filter: 'all' })).tasks).toMatchObject([{ title: 'tea' }]);
  expect(service.log.filter(({ msg }) => msg === 'a request failed')).toEqual([]);
});
