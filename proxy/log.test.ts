import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { freePort } from '@longhand/shared/testing/free-port.ts';
import { open, send, sendRaw } from '@longhand/shared/testing/send.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { startProxied } from './testing/proxied.ts';

/** Text and control bytes that must never be logged. U+202E is encoded as UTF-8. */
const secret = 'topsecret';
const controls = '\x9b2J\x85\xc2\x9b31m\xe2\x80\xae';
const hostile = secret + controls;

/** Matches control characters (C0, DEL, C1 and bidi) and invalid UTF-8. */
const control = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd]/u;

describe("The proxy's log", async () => {
  const handlers: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
    '/break': (request) => request.socket.destroy(),
    '/hang': () => {},
    '/garbage': (request) => request.socket.end(`${secret}\r\n\r\n`),
    '/header': (_, response) => response.setHeader('X-Long', 'x'.repeat(60_000)).end(),
    '/cut': (request, response) => {
      response.writeHead(200, { 'Content-Length': 10 }).write('some');
      setTimeout(() => request.socket.destroy(), 50);
    },
    '/tasks/events': (_, response) => response.writeHead(200, { 'X-Accel-Buffering': 'no' }).write('\n'),
  };
  const application = http.createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    (handlers[pathname] ?? (() => response.end('echo')))(request, response);
  });

  const variables = {
    LONGHAND_API_RATE: '1r/s',
    LONGHAND_EXPANDER_SERVER: `127.0.0.1:${await freePort()} max_fails=0`,
  };
  const proxy = await startProxied(application, variables, (text) =>
    text
      .replace('proxy_read_timeout 2s', 'proxy_read_timeout 500ms')
      .replace(/(client_\w+_timeout) \w+/g, '$1 2s'),
  );
  afterAll(proxy.stop);

  const headers = { Referer: `http://elsewhere.example/?${hostile}`, 'User-Agent': hostile };
  const query = `?u=https://${secret}.example/`;

  /** Sends a request and ignores the response. */
  const provoke = (...options: Parameters<typeof send>) => send(...options).catch(() => {});

  /** Sends raw bytes with the hostile headers, and waits until the proxy closes the connection. */
  const raw = (first: string, host = `localhost:${proxy.ports.tasks}`, rest = '') =>
    sendRaw(
      proxy.ports.tasks,
      `${first}\r\nHost: ${host}\r\nReferer: ${headers.Referer}\r\nConnection: close\r\n${rest}\r\n`,
    );

  test('never contains a query, a Referer or control characters', async () => {
    const { all, expander, tasks } = proxy.ports;
    // Provoke every upstream error: refused, reset and hung connections; invalid, oversized and incomplete responses.
    await provoke(expander, `/${query}`, { headers });
    for (const path of ['/break', '/hang', '/garbage', '/header'])
      await provoke(tasks, path + query, { headers });
    await provoke(tasks, `/cut${query}`, { headers });
    // The proxy refuses requests: too many, too long, too large, unknown path, unknown host, bad method.
    for (let i = 0; i < 4; i += 1) await provoke(expander, `/api${query}`, { headers });
    await provoke(tasks, `/${query}${'x'.repeat(40_000)}`, { headers });
    await provoke(tasks, `/${query}`, { headers: { ...headers, 'X-Long': 'x'.repeat(40_000) } });
    await provoke(tasks, `/tasks${query}`, { method: 'POST', headers, body: 'x'.repeat(70_000) });
    await provoke(all, `/nowhere${query}`, { headers });
    await provoke(tasks, `/${query}`, { headers, host: 'elsewhere.example' });
    await provoke(tasks, `/${query}`, { method: 'TRACE', headers });
    // Invalid HTTP, paths and headers.
    await raw(`GET /..${query} HTTP/1.1`);
    await raw(`GET /${query} HTTP/9.9`);
    await raw(`GET ${query}${hostile} HTTP/1.1`);
    await raw(`g\x01t /${query} HTTP/1.1`);
    await raw(`GET /path-${controls}${query} HTTP/1.1`);
    await raw(`GET /host${query} HTTP/1.1`, `tasks.${controls}.localhost`);
    await raw(`GET /${query} HTTP/1.1`, 'localhost', `X${hostile}: a\x00b\r\n`);
    await raw(
      `POST /task${query} HTTP/1.1`,
      'localhost',
      'Transfer-Encoding: chunked\r\n\r\nnot a number\r\n',
    );
    // Clients that stall while sending headers or a body. One client disconnects.
    for (const rest of ['', '\r\nContent-Length: 10\r\n\r\nabc']) {
      await sendRaw(
        tasks,
        `POST /slow${query} HTTP/1.1\r\nHost: localhost\r\nReferer: ${headers.Referer}${rest}`,
      );
    }
    const leaving = connect(tasks, '127.0.0.1');
    leaving.write(`GET /hang${query} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    setTimeout(() => leaving.destroy(), 50);
    await once(leaving, 'close');
    // Exceed the limit on event streams.
    const streams = Array.from({ length: 201 }, () => open(tasks, `/tasks/events${query}`, { headers }));
    const opened = await Promise.all(streams);
    expect(opened.map(({ statusCode }) => statusCode)).toContain(429);
    for (const stream of opened) stream.destroy();
    await send(tasks, '/last');

    await expect.poll(() => proxy.log.some((line) => line.includes('"/last"'))).toBe(true);
    // Another worker may log its requests later.
    const statuses = () =>
      proxy.log.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line).status as number] : []));
    const provoked = [200, 400, 404, 405, 408, 413, 414, 421, 429, 431, 499, 502, 504, 505];
    await expect.poll(statuses).toEqual(expect.arrayContaining(provoked));
    expect(proxy.log.filter((line) => line.includes(secret) || control.test(line))).toEqual([]);
  });
});
