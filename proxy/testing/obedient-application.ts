import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a request can order in its query, as JSON in `order`. */
export interface Order {
  status?: number;
  headers?: Record<string, string>;
  /** Bytes of the body, without which it says what arrived. */
  length?: number;
  /** Milliseconds until the response. */
  delay?: number;
  /** Sent in pieces, without a length. */
  chunked?: boolean;
}

export interface Arrived {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An application that answers as its requests order. */
export interface ObedientApplication {
  readonly port: number;
  /** All requests, in the order in which they arrived. */
  readonly arrived: Arrived[];
  /** Whether it takes requests and answers none. */
  hangs: boolean;
  /** The order of requests that have none of their own. */
  standing: Order;
  stop(): Promise<void>;
}

export async function startObedientApplication(port = 0): Promise<ObedientApplication> {
  const arrived: Arrived[] = [];
  const server = http.createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const asked = { method, url, headers, body: await bodyOf(request) };
    arrived.push(asked);
    if (application.hangs) return;
    const order = orderIn(url) ?? application.standing;
    if (order.delay) await sleep(order.delay);
    for (const [name, value] of Object.entries(order.headers ?? {})) response.setHeader(name, value);
    const { 'x-request-id': _, traceparent: __, ...others } = headers;
    const body = order.length
      ? 'x'.repeat(order.length)
      : `answer ${JSON.stringify({ ...asked, headers: others })}`;
    response.statusCode = order.status ?? 200;
    if (order.chunked) response.write(' ');
    response.end(body);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const application = {
    port: (server.address() as AddressInfo).port,
    arrived,
    hangs: false,
    standing: {} as Order,
    async stop() {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
  return application;
}

/** The query of a request that orders. */
export const ordering = (order: Order) => `order=${encodeURIComponent(JSON.stringify(order))}`;

function orderIn(url: string): Order | undefined {
  try {
    return JSON.parse(new URL(url, 'http://localhost').searchParams.get('order') ?? '');
  } catch {
    return undefined;
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += chunk;
  return body;
}
