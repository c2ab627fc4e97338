import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { createObserver } from '@longhand/shared/observe.ts';
import { createMetrics } from '@longhand/shared/operations.ts';
import { type Application, serve } from '@longhand/shared/serve.ts';
import { logged } from '@longhand/shared/testing/logged.ts';
import { onTestFinished } from 'vitest';
import { createExpand } from '../src/expansion/expand.ts';
import type { ExpandOptions, Expansion } from '../src/expansion/expansion.ts';
import { createApp } from '../src/web/app.ts';

/** Serves an expander until the test ends, set up as in main.ts. Returns the URL and the log lines. */
export async function serving(app: Application, { lines, log } = logged()) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const observer = createObserver(log, createMetrics('expander', '0.0.0'));
  const { url, port } = await serve(app, { host: '127.0.0.1', port: 0, signal: stop.signal, observer });
  return { url, port, lines };
}

/** Serves an expander that calls `followRedirects`. */
export function tracing(followRedirects: (url: URL, options: ExpandOptions) => Promise<Expansion>) {
  const listened = logged();
  return serving(
    createApp(
      createExpand(({ url }, options) => followRedirects(url, options)),
      { log: listened.log },
    ),
    listened,
  );
}

/** Sends a request on a new connection: POST with a body, otherwise GET. */
export function ask(url: string, path: string, body?: string, headers = {}): ClientRequest {
  const method = body === undefined ? 'GET' : 'POST';
  const sent = request(new URL(path, url), { method, headers, agent: false }).on('error', () => {});
  onTestFinished(() => void sent.destroy());
  sent.end(body);
  return sent;
}

export async function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}
