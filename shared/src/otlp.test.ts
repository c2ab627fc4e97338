import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Hono } from 'hono';
import { expect, onTestFinished, test, vi } from 'vitest';
import { serveObserved } from '../testing/serve-observed.ts';
import { otlpExporter } from './otlp.ts';
import { beginSpan } from './spans.ts';

/** A collector that keeps what it gets. */
async function collector() {
  const received: { url: string | undefined; body: unknown }[] = [];
  const collector = { received, status: 200, url: '' };
  const server = createServer(async (request, response) => {
    received.push({ url: request.url, body: await json(request) });
    response.writeHead(collector.status).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return collector;
}

test('requests and their spans reach a collector, and nothing that people sent', async () => {
  const { received, url: endpoint } = await collector();
  const log = { warn: vi.fn(), info: vi.fn() };
  const { add, flush } = otlpExporter({ endpoint, service: 'tasks', log });
  const app = new Hono().post('/tasks/:id', async (c) => {
    beginSpan('redis update')({ facts: { batch: 3 } });
    beginSpan('redis show')({ error: 'ETIMEDOUT' });
    beginSpan('hop');
    return c.text(await c.req.text(), 503);
  });
  const { port, notable } = await serveObserved(app);
  const traceId = '0123456789abcdef0123456789abcdef';
  const traceparent = `00-${traceId}-0123456789abcdef-01`;
  await fetch(`http://127.0.0.1:${port}/tasks/secret-id?u=https://secret.example/`, {
    method: 'POST',
    headers: { traceparent, Referer: 'http://secret.example/', 'X-Forwarded-For': '192.0.2.1' },
    body: 'title=secret',
  });
  await expect.poll(() => notable.all()).toHaveLength(1);
  for (const request of notable.all()) add(request);
  await flush();
  expect(received).toMatchObject([
    {
      url: '/v1/traces',
      body: {
        resourceSpans: [
          {
            resource: { attributes: [{ key: 'service.name', value: { stringValue: 'longhand-tasks' } }] },
            scopeSpans: [
              {
                spans: [
                  {
                    traceId,
                    parentSpanId: traceId.slice(0, 16),
                    name: 'POST /tasks/:id',
                    kind: 2,
                    status: { code: 2 },
                  },
                  { traceId, name: 'redis update', attributes: [{ key: 'batch', value: { intValue: '3' } }] },
                  { traceId, name: 'redis show', status: { code: 2 } },
                  { traceId, name: 'hop', endTimeUnixNano: expect.stringMatching(/^\d{19}$/) },
                ],
              },
            ],
          },
        ],
      },
    },
  ]);
  expect(JSON.stringify(received)).not.toMatch(/secret|192\.0\.2\.1/);
  expect(log.warn).not.toHaveBeenCalled();
});

test('a collector that fails is one line, and so is its return', async () => {
  const target = await collector();
  const log = { warn: vi.fn(), info: vi.fn() };
  const { add, flush } = otlpExporter({ endpoint: target.url, service: 'tasks', log });
  const request = {
    requestId: 'a'.repeat(32),
    service: 'tasks',
    method: 'GET',
    status: 200,
    start: 0,
    seconds: 1,
    spans: [],
  };
  for (target.status of [500, 500, 200, 200]) {
    add(request);
    await flush();
  }
  expect([log.warn.mock.calls.length, log.info.mock.calls]).toEqual([1, [['spans are exported again']]]);
});
