import http, { type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

export interface TestResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** How often a header occurs; its name in lower case. */
  headerCount(name: string): number;
  body: string;
}

export interface RequestOptions {
  method?: string;
  /** The Host header; by default 127.0.0.1 and the port. */
  host?: string;
  headers?: http.OutgoingHttpHeaders;
  /** The address that it comes from; by default 127.0.0.1. */
  localAddress?: string;
  body?: string | Buffer;
}

/** Sends one request to 127.0.0.1 on a new connection, the path byte for byte. */
export async function send(port: number, path: string, options: RequestOptions = {}): Promise<TestResponse> {
  const { method = 'GET', host = `127.0.0.1:${port}`, headers, localAddress, body = '' } = options;
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const length = body === '' ? {} : { 'Content-Length': Buffer.byteLength(body) };
  http
    .request({
      host: '127.0.0.1',
      port,
      path,
      method,
      localAddress,
      headers: { Host: host, ...length, ...headers },
    })
    .on('response', resolve)
    .on('error', reject)
    .end(body);
  const response = await promise;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    headerCount: (name) => response.headersDistinct[name]?.length ?? 0,
    body: await text(response),
  };
}

/** Sends bytes that may not be HTTP, and returns all that comes back until the server closes the connection. */
export async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes, 'latin1');
  return text(socket);
}

/** Status and headers, without what names this one message and how it is framed (RFC 9112). */
export function headOf({ status, headers }: TestResponse) {
  const { date, connection, 'x-request-id': id, 'transfer-encoding': framing, ...rest } = headers;
  return { status, ...rest };
}
