import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { pino } from 'pino';
import type { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { logged } from '../testing/logged.ts';
import { operations } from './health.ts';
import type { Log } from './log.ts';
import { createMetrics, observed } from './observe.ts';

/** Asks an application whose requests are observed. */
function asking(app: Hono, log: Log, metrics: Registry) {
  const { fetch } = observed(app, log, metrics);
  return (path: string, headers = {}) =>
    fetch(new Request(`http://a${path}`), { incoming: { headers } } as unknown as HttpBindings);
}

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
    const metrics = createMetrics();
    const app = new Hono();
    const ask = asking(app, pino({ level: 'silent' }), metrics);
    app.get('/notes/:id', (c) => c.text('a note'));
    await ask('/notes/1');
    await ask('/notes/2');
    await ask('/no/such/path');
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
    const { lines, log } = logged();
    const app = new Hono();
    const ask = asking(app, log, createMetrics());
    app.get('/notes', (c) => c.text('notes'));
    await ask('/notes?secret=1', { 'x-request-id': 'r1', 'x-forwarded-for': '192.0.2.1' });
    expect(lines).toEqual([
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
