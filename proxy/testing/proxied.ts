import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTemporaryProxy, type TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { expect } from 'vitest';

/**
 * Starts nginx in front of `application`, which replaces both services unless the variables name other services. `stop` stops
 * nginx and the application. The other parameters are those of `startTemporaryProxy`.
 */
export async function startProxied(
  application: http.Server,
  variables: Parameters<typeof startTemporaryProxy>[0] = {},
  ...options: [edit?: Parameters<typeof startTemporaryProxy>[1], image?: string]
): Promise<TemporaryProxy> {
  const server = `127.0.0.1:${await listening(application)} max_fails=0`;
  const servers = { LONGHAND_EXPANDER_SERVER: server, LONGHAND_TASKS_SERVER: server };
  const proxy = await startTemporaryProxy({ ...servers, ...variables }, ...options);
  const { stop } = proxy;
  return Object.assign(proxy, {
    async stop() {
      await stop();
      cutOff(application);
    },
  });
}

/** The proxy's log line for a response. */
export async function logged(
  log: () => readonly string[] | Promise<string[]>,
  response: { headers: IncomingHttpHeaders },
) {
  const id = `${response.headers['x-request-id']}`;
  const line = async () => (await log()).findLast((entry) => entry.includes(id)) ?? '';
  await expect.poll(line).not.toBe('');
  return JSON.parse(await line());
}

/** The response that a request asks for with the JSON in its query parameter `order`. */
export interface Order {
  status?: number;
  headers?: Record<string, string>;
  /** Bytes of the body. By default, the body describes the request. */
  length?: number;
  /** Milliseconds until the response. */
  delay?: number;
  /** Sends the body without a Content-Length. */
  chunked?: boolean;
  /** Resets the connection instead. */
  reset?: boolean;
}

/** The query that asks for this response. */
export const ordering = (order: Order) => `order=${encodeURIComponent(JSON.stringify(order))}`;

/** An application whose responses follow the `order` in each request. */
export function obedientApplication() {
  const application = {
    /** All requests, in order of arrival. */
    arrived: [] as (Pick<IncomingMessage, 'socket' | 'headers'> &
      Record<'method' | 'url' | 'body', string>)[],
    /** Accepts requests without responding. */
    hangs: false,
    /** The order for requests without an `order`. */
    standing: {} as Order,
    server: http.createServer({ maxHeaderSize: 64 * 1024 }, async (request, response) => {
      const { method = '', url = '', headers, socket } = request;
      const received = { method, url, headers, body: await text(request) };
      application.arrived.push({ ...received, socket });
      if (application.hangs) return;
      const own = /\?.*\border=([^&]*)/.exec(url)?.[1];
      const order: Order = own ? JSON.parse(decodeURIComponent(own)) : application.standing;
      if (order.reset) return socket.destroy();
      if (order.delay) await sleep(order.delay);
      for (const [name, value] of Object.entries(order.headers ?? {})) response.setHeader(name, value);
      const { 'x-request-id': _, ...others } = headers;
      response.statusCode = order.status ?? 200;
      if (order.chunked) response.write(' ');
      response.end(
        order.length
          ? 'x'.repeat(order.length)
          : `received ${JSON.stringify({ ...received, headers: others })}`,
      );
    }),
  };
  return application;
}
