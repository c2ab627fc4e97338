import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTemporaryProxy, type TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { expect } from 'vitest';

/**
 * Starts nginx in front of `application`, which replaces both services unless a variable sets another upstream. `stop` also stops
 * the application.
 */
export async function startProxied(
  application: http.Server,
  variables: Parameters<typeof startTemporaryProxy>[0] = {},
  // Lets nginx wait until the kernel of a busy machine repeats a lost SYN.
  edit: Parameters<typeof startTemporaryProxy>[1] = (text) =>
    text.replace('connect_timeout 1100ms', 'connect_timeout 9s'),
  image?: string,
): Promise<TemporaryProxy> {
  const server = `127.0.0.1:${await listening(application)} max_fails=0`;
  const servers = { LONGHAND_EXPANDER_SERVER: server, LONGHAND_TASKS_SERVER: server };
  const proxy = await startTemporaryProxy({ ...servers, ...variables }, edit, image);
  const { stop } = proxy;
  return Object.assign(proxy, {
    async stop() {
      await stop();
      cutOff(application);
    },
  });
}

/** Returns the proxy's log line for a response. */
export async function logged(
  log: () => readonly string[] | Promise<string[]>,
  response: { headers: IncomingHttpHeaders },
) {
  const id = `${response.headers['x-request-id']}`;
  const line = async () => (await log()).findLast((entry) => entry.includes(id)) ?? '';
  await expect.poll(line).not.toBe('');
  return JSON.parse(await line());
}

/** The response to send, as JSON in the query parameter `reply`. */
export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  /** Length of the body (bytes). By default, the body describes the request. */
  length?: number;
  /** Delay before the response (ms). */
  delay?: number;
  /** Sends the body without a Content-Length. */
  chunked?: boolean;
  /** Resets the connection instead of responding. */
  reset?: boolean;
}

export const replyWith = (reply: Reply) => `reply=${encodeURIComponent(JSON.stringify(reply))}`;

/** Creates an application whose responses are given by the `reply` parameter of each request. */
export function scriptedApplication() {
  const application = {
    arrived: [] as (Pick<IncomingMessage, 'socket' | 'headers'> &
      Record<'method' | 'url' | 'body', string>)[],
    /** Accepts requests without responding. */
    hangs: false,
    defaultReply: {} as Reply,
    server: http.createServer({ maxHeaderSize: 64 * 1024 }, async (request, response) => {
      const { method = '', url = '', headers, socket } = request;
      const received = { method, url, headers, body: await text(request) };
      application.arrived.push({ ...received, socket });
      if (application.hangs) return;
      const own = /\?.*\breply=([^&]*)/.exec(url)?.[1];
      const reply: Reply = own ? JSON.parse(decodeURIComponent(own)) : application.defaultReply;
      if (reply.reset) return socket.destroy();
      if (reply.delay) await sleep(reply.delay);
      for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
      const { 'x-request-id': _, ...others } = headers;
      response.statusCode = reply.status ?? 200;
      if (reply.chunked) response.write(' ');
      response.end(
        reply.length
          ? 'x'.repeat(reply.length)
          : `received ${JSON.stringify({ ...received, headers: others })}`,
      );
    }),
  };
  return application;
}
