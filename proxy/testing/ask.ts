import http, { type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** How often each header stands in the answer, by its name in lower case. */
  times(header: string): number;
  body: string;
}

export interface Question {
  method?: string;
  /** The name the client knows the server by; 127.0.0.1 and the port otherwise. */
  host?: string;
  headers?: http.OutgoingHttpHeaders;
  body?: string | Buffer;
}

/** Sends one request to 127.0.0.1 on a connection of its own, the path byte for byte. */
export async function ask(port: number, path: string, question: Question = {}): Promise<Answer> {
  const { method = 'GET', host = `127.0.0.1:${port}`, headers, body = '' } = question;
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const length = body === '' ? {} : { 'Content-Length': Buffer.byteLength(body) };
  http
    .request({ host: '127.0.0.1', port, path, method, headers: { Host: host, ...length, ...headers } })
    .on('response', resolve)
    .on('error', reject)
    .end(body);
  const response = await promise;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    times: (header) =>
      response.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === header).length,
    body: await text(response),
  };
}

/** Sends bytes that need not be HTTP, and returns what comes back until the server closes. */
export async function say(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes, 'latin1');
  return text(socket);
}
