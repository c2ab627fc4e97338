import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { serveObserved } from '../testing/serve-observed.ts';

import { createMetrics, operations } from './operations.ts';

describe('Operations endpoints', () => {
  test('/livez answers while the process does', async () => {
    const app = operations(() => Promise.reject(new Error('no store')), createMetrics('test', '0.0.0'));
    expect((await app.request('/livez')).status).toBe(200);
  });

  test('/readyz says ready, or 503 and why not', async () => {
    const ready = await operations(async () => {}, createMetrics('test', '0.0.0')).request('/readyz');
    expect([ready.status, await ready.text()]).toEqual([200, 'ready\n']);
    const not = await operations(
      () => Promise.reject(new Error('no store')),
      createMetrics('test', '0.0.0'),
    ).request('/readyz');
    expect([not.status, await not.text()]).toEqual([503, 'not ready: no store\n']);
  });

  test('/metrics counts requests by method, route and status, and knows the process', async () => {
    const app = new Hono().get('/notes/:id', (c) => c.text('a note'));
    const { port, metrics, requests } = await serveObserved(app);
    for (const path of ['/notes/1', '/notes/2', '/no/such/path'])
      await fetch(`http://127.0.0.1:${port}${path}`);
    await expect.poll(requests).toHaveLength(3);
    const text = await (await operations(async () => {}, metrics).request('/metrics')).text();
    const name = 'http_server_request_duration_seconds';
    const request = 'http_request_method="GET",http_response_status_code';
    const notes = `${request}="200",url_scheme="http",http_route="/notes/:id"`;
    expect(text).toContain(`${name}_count{${notes}} 2`);
    for (const bound of ['0.035', '0.05', '10', '+Inf']) {
      expect(text).toMatch(
        new RegExp(`^${name}_bucket\\{le="${bound.replace('+', '\\+')}",${notes}\\} [0-2]$`, 'm'),
      );
    }
    expect(text).toMatch(new RegExp(`${name}_sum{${notes}} 0\\.0\\d+`));
    // An unmatched path has no route.
    expect(text).toContain(`${name}_count{${request}="404",url_scheme="http"} 1`);
    expect(text).toContain('longhand_build_info{service="test",version="0.0.0"} 1');
    expect(text).toContain('process_resident_memory_bytes');
  });
});

describe('The log', () => {
  test('has one line for each request, without the query, with the request id and the client', async () => {
    const { port, requests } = await serveObserved(new Hono().get('/notes', (c) => c.text('notes')));
    const headers = { 'x-request-id': 'r1', 'x-forwarded-for': '192.0.2.1' };
    await fetch(`http://127.0.0.1:${port}/notes?secret=1`, { headers });
    await expect.poll(requests).toEqual([
      expect.objectContaining({
        msg: 'request',
        method: 'GET',
        path: '/notes',
        status: 200,
        seconds: expect.any(Number),
        requestId: 'r1',
        client: '192.0.2.1',
      }),
    ]);
  });
});
