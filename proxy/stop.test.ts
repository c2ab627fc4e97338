import http from 'node:http';
import { connect } from 'node:net';
import { send } from '@longhand/shared/testing/send.ts';
import { expect, onTestFinished, test } from 'vitest';
import { startProxied } from './testing/proxied.ts';

const refused = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(false)).on('error', () => resolve(true));
    socket.on('close', () => socket.destroy()).end();
  });

test('a stopping proxy finishes requests in flight and cuts off endless streams', async () => {
  const responses: Record<string, http.ServerResponse> = {};
  const application = http.createServer(({ url = '' }, response) => {
    responses[url] = response;
    if (url === '/tasks/events') response.writeHead(200, { 'X-Accel-Buffering': 'no' }).write('first');
  });
  const proxy = await startProxied(
    application,
    {},
    // Shortens the test. The timeout is still longer than the interval between events.
    (text) => text.replace('worker_shutdown_timeout 10s', 'worker_shutdown_timeout 2s'),
  );
  let stopping: Promise<void> | undefined;
  onTestFinished(() => stopping ?? proxy.stop());
  const endless = send(proxy.ports.tasks, '/tasks/events').catch(String);
  const slow = send(proxy.ports.tasks, '/');
  await expect.poll(() => Object.keys(responses).length).toBe(2);
  const heartbeat = setInterval(() => responses['/tasks/events']?.write('more'), 100);
  onTestFinished(() => clearInterval(heartbeat));

  const begun = performance.now();
  stopping = proxy.stop();
  await expect.poll(() => refused(proxy.ports.tasks), { interval: 10 }).toBe(true);
  responses['/']?.end('done');
  expect(await slow).toMatchObject({ status: 200, body: 'done' });
  expect(await endless).toContain('aborted');
  await stopping;
  // The supervisor kills nginx after 15 s.
  expect(performance.now() - begun).toBeLessThan(14_000);
});
