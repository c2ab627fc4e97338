import { createHash, X509Certificate } from 'node:crypto';
import http from 'node:http';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { listening } from '@longhand/shared/testing/listening.ts';
import { data, errors, head, reset } from '../http2-frames.ts';
import { acceptHttp2 } from '../http2-server.ts';

/** What websites speak over TLS. A website with HTTP/2 responds to HTTP/1.1, too. */
export type Protocol = 'HTTP/1.1' | 'HTTP/2';

/** A website's response. Strings are in Latin-1. */
export interface Reply {
  status?: number;
  headers?: readonly (readonly [name: string, value: string])[];
  body?: string;
  /** The raw response over HTTP/1.1. Overrides all other fields. */
  raw?: string;
  /** Returns the raw response over HTTP/2. Overrides all other fields. */
  frames?: (stream: number) => Uint8Array;
}

/** A request that a website receives. */
export interface ReceivedRequest {
  method: string;
  host: string;
  /** Path and query. */
  path: string;
  cookie: string;
  referer: string;
  encrypted: boolean;
}

export type Website = (request: ReceivedRequest) => Reply | 'reset' | 'silence';

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** Returns the `User-Agent` by which the stage identifies a link. */
export const userAgentOf = (index: number): string => `link ${index}`;

/** A request before its website responds. */
type Headers = Record<'host' | 'cookie' | 'referer' | 'user-agent', string | undefined>;

/** Starts the websites of all links on three ports of 127.0.0.1: without TLS, and with TLS for each protocol. */
export async function openStage(websites: readonly Website[]) {
  const answerTo = (method: string, path: string, encrypted: boolean, headers: Headers) => {
    const { host = '', cookie = '', referer = '', 'user-agent': userAgent = '' } = headers;
    const website = websites[Number(userAgent.slice(userAgentOf(0).length - 1))] as Website;
    return website({ method, host, path, cookie, referer, encrypted });
  };
  const http1Server = (encrypted: boolean) =>
    http.createServer(({ method = '', url = '', headers, socket }) => {
      const reply = answerTo(method, url, encrypted, headers as unknown as Headers);
      if (reply === 'silence') return;
      if (reply === 'reset') return void socket.destroy();
      // Write to the socket, because Node refuses to send some of these headers.
      socket.end(Buffer.from(message(reply, method === 'HEAD'), 'latin1'));
    });
  const http2Request = (stream: ServerHttp2Stream, fields: IncomingHttpHeaders, socket: TLSSocket) => {
    const headers = { ...fields, host: fields[':authority'] } as unknown as Headers;
    const { ':method': method = '', ':path': path = '' } = fields;
    const reply = answerTo(method, path, true, headers);
    if (reply === 'silence' || stream.id === undefined) return;
    if (reply === 'reset') socket.write(reset(stream.id, errors.internal));
    else socket.write(framesOf(reply, stream.id, method === 'HEAD'));
  };

  const plain = http1Server(false);
  const encrypted = http1Server(true);
  const certificate = await testCertificate();
  const secureServer = (protocols: string[]) =>
    tls.createServer({ ...certificate, ALPNProtocols: protocols }, (socket) => {
      if (socket.alpnProtocol !== 'h2') return void encrypted.emit('connection', socket);
      acceptHttp2(socket, (stream, fields) => http2Request(stream, fields, socket));
    });
  const servers = [plain, secureServer(['http/1.1']), secureServer(['h2', 'http/1.1'])];
  const sockets = new Set<Socket>();
  for (const server of servers) server.on('connection', (socket) => sockets.add(socket));
  const [port, http1Port, http2Port] = await Promise.all(servers.map((server) => listening(server)));
  const key = new X509Certificate(certificate.cert).publicKey.export({ type: 'spki', format: 'der' });
  return {
    port: port as number,
    tlsPorts: { 'HTTP/1.1': http1Port as number, 'HTTP/2': http2Port as number },
    /** The fingerprint of the certificate's key. */
    fingerprint: createHash('sha256').update(key).digest('base64'),
    close() {
      for (const server of servers) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** `no-store` prevents Chromium from reusing permanent redirects for the next link. */
const unstored = ['Cache-Control', 'no-store'] as const;

function message({ status = 200, headers = [], body = '', raw }: Reply, headOnly: boolean): string {
  if (raw !== undefined) return raw;
  const fields = [...headers, unstored].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const end = `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  return `HTTP/1.1 ${status} Whatever\r\n${fields}${end}${headOnly ? '' : body}`;
}

/** Serializes the same response for HTTP/2, in which names are in lower case and values have no white space around them. */
function framesOf(
  { status = 200, headers = [], body = '', frames }: Reply,
  stream: number,
  headOnly: boolean,
) {
  if (frames) return frames(stream);
  const fields = [...headers, unstored, ['Content-Length', `${body.length}`] as const].map(
    ([name, value]) => [name.toLowerCase(), value.replace(/^[\t ]+|[\t ]+$/g, '')] as const,
  );
  const hasBody = !headOnly && body !== '' && status !== 204 && status !== 304;
  const start = head(stream, [[':status', `${status}`], ...fields], !hasBody);
  return hasBody ? Buffer.concat([start, data(stream, body)]) : start;
}
