import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { serveObserved } from '../testing/serve-observed.ts';
import { createMetrics } from './observe.ts';
import { operations } from './operations.ts';

describe('Operations endpoints', () => {
  test('/livez answers while the process does', async () => {
    const app = operations(() => Promise.reject(new Error('no store')), createMetrics());
    expect((await app.request('/livez')).status).toBe(200);
  });

  test('/readyz says ready, or 503 and why not', async () => {
    const ready = await operations(async () => {}, createMetrics()).request('/readyz');
    expect([ready.status, await ready.text()]).toEqual([200, 'ready\n']);
    const not = await operations(() => Promise.reject(new Error('no store')), createMetrics()).request(
      '/readyz',
    );
    expect([not.status, await not.text()]).toEqual([503, 'not ready: no store\n']);
  });

  test('/metrics counts requests by method, route and status, and knows the process', async () => {
    const app = new Hono().get('/notes/:id', (c) => c.text('a note'));
    const { port, metrics, requests } = await serveObserved(app);
    for (const path of ['/notes/1', '/notes/2', '/no/such/path'])
      await fetch(`http://127.0.0.1:${port}${path}`);
    await expect.poll(requests).toHaveLength(3);
    const text = await (await operations(async () => {}, metrics).request('/metrics')).text();
    const name = 'http_request_duration_seconds';
    const notes = 'method="GET",route="/notes/:id",status="200"';
    expect(text).toContain(`${name}_count{${notes}} 2`);
    expect(text).toContain(`${name}_bucket{le="10",${notes}} 2`);
    expect(text).toContain(`${name}_bucket{le="+Inf",${notes}} 2`);
    expect(text).toMatch(new RegExp(`${name}_sum{${notes}} 0\\.0\\d+`));
    expect(text).toContain(`${name}_count{method="GET",route="none",status="404"} 1`);
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
        ms: expect.any(Number),
        requestId: 'r1',
        client: '192.0.2.1',
      }),
    ]);
  });
});
