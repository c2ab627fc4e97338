import { Hono } from 'hono';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** Creates a registry with process metrics (memory, CPU, event loop, files) and the service's version. */
export function createMetrics(service: string, version: string): Registry {
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  // Remove gauges that are named like counters and duplicate the metrics without `_total`.
  for (const kind of ['handles', 'requests', 'resources'])
    metrics.removeSingleMetric(`nodejs_active_${kind}_total`);
  new Gauge({
    name: 'longhand_build_info',
    help: 'The version of the service, as a label.',
    labelNames: ['service', 'version'],
    registers: [metrics],
  }).set({ service, version }, 1);
  return metrics;
}

/**
 * Creates the operations endpoints of a service: `/livez` (the process responds), `/readyz` (200 `ready`, or 503 and the reason)
 * and `/metrics`. The proxy does not forward requests to these endpoints.
 *
 * @param ready rejects with the reason if the service cannot do its work
 */
export function operations(ready: () => Promise<void>, metrics: Registry): Hono {
  const app = new Hono();
  app.get('/livez', (c) => c.text('live\n'));
  app.get('/readyz', async (c) => {
    try {
      await ready();
      return c.text('ready\n');
    } catch (error) {
      return c.text(`not ready: ${error instanceof Error ? error.message : error}\n`, 503);
    }
  });
  app.get('/metrics', async (c) =>
    c.body(await metrics.metrics(), 200, { 'Content-Type': metrics.contentType }),
  );
  return app;
}
