import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

export interface TestResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** Returns the number of headers with this `name`, which must be in lower case. */
  headerCount(name: string): number;
  body: string;
}

export interface RequestOptions {
  method?: string;
  /** Host header (default: 127.0.0.1 and the port). */
  host?: string;
  headers?: http.OutgoingHttpHeaders;
  /** Client address (default: 127.0.0.1). */
  localAddress?: string;
  body?: string | Buffer;
  /** A certificate to trust. If set, the request is sent over TLS with the server name `host`. */
  ca?: string;
}

/** Sends a request to 127.0.0.1 on a new connection, without normalizing the path. Resolves once the headers have arrived. */
export function open(port: number, path: string, options: RequestOptions = {}) {
  const { method = 'GET', host = `127.0.0.1:${port}`, headers, localAddress, body = '', ca } = options;
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const length = body === '' ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const what = { path, method, headers: { Host: host, ...length, ...headers }, agent: false };
  const where = { host: '127.0.0.1', port, localAddress, ...(ca && { ca, servername: host }) };
  const { request } = ca ? https : http;
  request({ ...where, ...what })
    .on('response', resolve)
    .on('error', reject)
    .end(body);
  return promise;
}

/** Sends a request and reads the whole response. */
export async function send(...request: Parameters<typeof open>): Promise<TestResponse> {
  const response = await open(...request);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    headerCount: (name) => response.headersDistinct[name]?.length ?? 0,
    body: await text(response),
  };
}

/** Sends bytes that may not be valid HTTP. Returns the response once the server has closed the connection. */
export async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes, 'latin1');
  return text(socket);
}

/** Returns the status and headers, except headers that vary between responses or frame the body (RFC 9112). */
export function headOf({ status, headers }: Pick<TestResponse, 'status' | 'headers'>) {
  const { date, connection, 'x-request-id': id, 'transfer-encoding': framing, ...rest } = headers;
  return { status, ...rest };
}
