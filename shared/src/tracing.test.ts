import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Hono } from 'hono';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { logged } from '../testing/logged.ts';
import { serveObserved } from '../testing/serve-observed.ts';
import { timedOperations } from './redis.ts';
import { timed } from './spans.ts';
import { startTracing, traceRequests } from './tracing.ts';

/** What OTLP's JSON says of a span, as far as it is looked at. */
interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}

interface Export {
  resourceSpans: { resource: Pick<ExportedSpan, 'attributes'>; scopeSpans: { spans: ExportedSpan[] }[] }[];
}

/** A collector that keeps what it gets. */
async function startCollector() {
  const received: { url: string | undefined; headers: IncomingHttpHeaders; body: Export }[] = [];
  const collector = { received, status: 200, port: 0 };
  const server = createServer(async (request, response) => {
    received.push({ url: request.url, headers: request.headers, body: (await json(request)) as Export });
    response.writeHead(collector.status, { 'Content-Type': 'application/json' }).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  collector.port = (server.address() as AddressInfo).port;
  return collector;
}

const facts = ({ attributes }: Pick<ExportedSpan, 'attributes'>) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

test('requests and what they wait for reach a collector, and nothing that people sent', async () => {
  const collector = await startCollector();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://user:pass%2Fword@127.0.0.1:${collector.port}`);
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-tenant=longhand');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { lines, log } = logged();
  const registry = new Registry();
  const operation = timedOperations(registry);
  const app = new Hono().post('/tasks/:id', async (c) => {
    await operation('update', async () => 'secret');
    await operation('show', () => Promise.reject(new Error('https://secret.example/'))).catch(() => {});
    await timed('a read that others share', async () => {});
    return c.text(await c.req.text(), 503);
  });
  const end = startTracing('tasks', log, 50);
  const spans = () =>
    collector.received.flatMap(({ body }) => body.resourceSpans[0]?.scopeSpans[0]?.spans ?? []);
  const { port, requests } = await serveObserved(app, traceRequests);

  const traceId = '0123456789abcdef0123456789abcdef';
  await fetch(`http://127.0.0.1:${port}/tasks/secret-id?u=https://secret.example/`, {
    method: 'POST',
    headers: {
      traceparent: `00-${traceId}-0123456789abcdef-01`,
      tracestate: 'vendor=secret',
      baggage: 'title=secret',
      Referer: 'http://secret.example/',
      'X-Forwarded-For': '192.0.2.1',
    },
    body: 'title=secret',
  });
  await expect.poll(spans).toHaveLength(4);
  const [update, show, shared, request] = spans();
  expect([update?.name, show?.name, shared?.name, request?.name]).toEqual([
    'redis update',
    'redis show',
    'a read that others share',
    'POST /tasks/:id',
  ]);
  expect(spans().map((span) => span.traceId)).toEqual([traceId, traceId, traceId, traceId]);
  expect(requests()).toMatchObject([{ requestId: traceId, status: 503 }]);
  expect(request).toMatchObject({ parentSpanId: '0123456789abcdef', kind: 2, status: { code: 2 } });
  expect(request && facts(request)).toEqual({
    'http.request.method': 'POST',
    'http.response.status_code': 503,
    'http.route': '/tasks/:id',
  });
  for (const child of [update, show, shared]) expect(child?.parentSpanId).toBe(request?.spanId);
  expect([update, show].map((span) => span && facts(span))).toEqual([{}, { 'error.type': 'Error' }]);
  const name = 'db_client_operation_duration_seconds_count{db_system_name="redis",db_operation_name=';
  expect(await registry.metrics()).toContain(`${name}"show",error_type="Error"} 1`);

  const [{ url, headers, body } = {} as never] = collector.received;
  expect([url, headers['x-tenant']]).toEqual(['/v1/traces', 'longhand']);
  expect(headers.authorization).toBe(`Basic ${Buffer.from('user:pass/word').toString('base64')}`);
  expect(body.resourceSpans.map(({ resource }) => facts(resource)['service.name'])).toEqual([
    'longhand-tasks',
  ]);
  expect(JSON.stringify(collector.received.map(({ body }) => body))).not.toMatch(/secret|192\.0\.2\.1/);

  // A collector that fails is one line, and so is its return.
  const exports = () => collector.received.length;
  for (collector.status of [500, 500, 200, 200]) {
    const before = exports();
    await timed('waits', async () => {});
    await expect.poll(exports).toBeGreaterThan(before);
  }
  await timed('is exported at the end', async () => {});
  await end();
  expect(spans().at(-1)?.name).toBe('is exported at the end');
  const said = lines.filter(({ msg }) => msg !== 'request');
  expect(said.map(({ msg }) => msg)).toEqual(['spans cannot be exported', 'spans are exported again']);
  expect(JSON.stringify(lines)).not.toMatch(/pass.*word/);
});
