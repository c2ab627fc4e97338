import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { serveObserved } from '../testing/serve-observed.ts';

import { createMetrics, operations } from './operations.ts';

describe('Operations endpoints', () => {
  const unready = operations(() => Promise.reject(new Error('no store')), createMetrics('test', '0.0.0'));

  test('/livez answers while the process does', async () => {
    expect((await unready.request('/livez')).status).toBe(200);
  });

  test('/readyz says ready, or 503 and why not', async () => {
    const ready = await operations(async () => {}, createMetrics('test', '0.0.0')).request('/readyz');
    expect([ready.status, await ready.text()]).toEqual([200, 'ready\n']);
    const not = await unready.request('/readyz');
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
    expect(text).toMatch(new RegExp(`${name}_sum{${notes}} 0\\.\\d+`));
    // An unmatched path has no route.
    expect(text).toContain(`${name}_count{${request}="404",url_scheme="http"} 1`);
    expect(text).toContain('longhand_build_info{service="test",version="0.0.0"} 1');
    expect(text).toContain('process_resident_memory_bytes');
  });
});
