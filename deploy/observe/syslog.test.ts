import { Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import { startTemporaryProxy } from '../testing/temporary-proxy.ts';
import { doorMetrics } from './door.ts';
import { receiveLines } from './syslog.ts';

test('what every proxy answers itself is counted from the lines that it sends', async () => {
  const metrics = new Registry();
  const counter = await receiveLines({ host: '127.0.0.1', port: 0 }, doorMetrics(metrics));
  onTestFinished(counter.close);
  const log = `access_log syslog:server=127.0.0.1:${counter.port},nohostname,tag=proxy json;`;
  const proxies = await Promise.all(
    [1, 2].map(() =>
      // No application answers at these addresses.
      startTemporaryProxy({ LONGHAND_API_RATE: '1r/m', LONGHAND_API_BURST: '1' }, (text, file) =>
        file.endsWith('http.conf') ? text.replace(/^access_log .*$/m, `$&\n${log}`) : text,
      ),
    ),
  );
  onTestFinished(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  });
  for (const { ports } of proxies) {
    for (let i = 0; i < 3; i += 1) await fetch(`http://127.0.0.1:${ports.expander}/api?u=${i}`);
    await fetch(`http://127.0.0.1:${ports.tasks}/task`, { method: 'POST', body: 'x'.repeat(70_000) });
    await fetch(`http://127.0.0.1:${ports.tasks}/${'long'.repeat(2_000)}`);
  }
  const counts = async () =>
    Object.fromEntries(
      [...(await metrics.metrics()).matchAll(/door_requests_total\{(.*)\} (\d+)/g)].map(
        ([, labels = '', count]) => [
          /status="(\d+)"/.exec(labels)?.[1] + (labels.includes('REJECTED') ? ' limited' : ''),
          count,
        ],
      ),
    );
  await expect.poll(counts).toEqual({ 413: '2', '429 limited': '2', 502: expect.any(String) });
});
