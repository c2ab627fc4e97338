import { lookup } from 'node:dns';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import { connector, openSocket } from '../src/hop/connect.ts';
import { httpClient } from '../src/hop/http-client.ts';
import { data, type Fields, flags, frame, frameHead, goAway, head, reset, types } from './http2-frames.ts';

const prefaceLength = 24;

/** One request to a peer, which can respond in any way. */
export class PeerRequest {
  /** Number of this request at the server, and of its connection, from 1. */
  readonly number: number;
  readonly connection: number;
  readonly stream: number;
  readonly socket: TLSSocket;

  constructor(socket: TLSSocket, stream: number, number: number, connection: number) {
    this.socket = socket;
    this.stream = stream;
    this.number = number;
    this.connection = connection;
  }

  send(...frames: Uint8Array[]): void {
    if (this.socket.writable) this.socket.write(Buffer.concat(frames));
  }

  /** Returns the frames of a head. */
  head(fields: Fields = [], { status = '200', isEnd = true } = {}): Buffer {
    return head(this.stream, [[':status', status], ...fields], isEnd);
  }

  data(text: string, isEnd = true): Buffer {
    return data(this.stream, text, isEnd);
  }

  reset(code: number): void {
    this.send(reset(this.stream, code));
  }

  /** Announces the end of the session. The server has processed streams up to `lastStream`. */
  goAway(code: number, lastStream: number): void {
    this.send(goAway(code, lastStream));
  }

  /** Sends `bytes` until the client closes the connection. */
  flood(bytes: Uint8Array): void {
    const fill = () => {
      while (this.socket.writable && this.socket.write(bytes));
    };
    this.socket.on('drain', fill);
    fill();
  }

  ok(): void {
    this.send(this.head([['content-length', '0']]));
  }
}

interface PeerOptions {
  certificate: { key: string; cert: string };
  /** Settings by identifier. */
  settings?: readonly (readonly [identifier: number, value: number])[];
  /** Sent in place of the settings. */
  greeting?: string;
  /** Protocols to accept over TLS. */
  protocols?: string[];
}

/**
 * Runs a server on 127.0.0.1 until the test ends. It leaves the response to each HTTP/2 request to `respond`, so that it can break
 * any rule. It responds to HTTP/1.1 requests with 200.
 */
export async function http2Peer(respond: (request: PeerRequest) => void, options: PeerOptions) {
  const { certificate, greeting, protocols = ['h2', 'http/1.1'] } = options;
  const payload = Buffer.alloc(6 * (options.settings?.length ?? 0));
  for (const [i, [identifier, value]] of (options.settings ?? []).entries()) {
    payload.writeUInt16BE(identifier, 6 * i);
    payload.writeUInt32BE(value, 6 * i + 2);
  }
  const seen = { connections: 0, open: 0, http1: 0, http2: 0 };
  const sockets = new Set<TLSSocket>();
  const server = tls.createServer({ ...certificate, noDelay: true, ALPNProtocols: protocols }, (socket) => {
    const connection = ++seen.connections;
    seen.open += 1;
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => {
        seen.open -= 1;
        sockets.delete(socket);
      });
    if (socket.alpnProtocol !== 'h2') {
      socket.on('data', () => {
        seen.http1 += 1;
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
      return;
    }
    socket.write(greeting ?? frame('settings', 0, 0, payload));
    readRequests(socket, (stream) => {
      seen.http2 += 1;
      respond(new PeerRequest(socket, stream, seen.http2, connection));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { url: new URL(`https://localhost:${(server.address() as AddressInfo).port}/`), seen };
}

/** Acknowledges settings, and calls `requested` with the stream of each request. */
function readRequests(socket: TLSSocket, requested: (stream: number) => void) {
  let received = Buffer.alloc(0);
  let isStarted = false;
  socket.on('data', (data: Buffer) => {
    received = Buffer.concat([received, data]);
    if (!isStarted && received.length >= prefaceLength) {
      received = received.subarray(prefaceLength);
      isStarted = true;
    }
    while (isStarted && received.length >= frameHead) {
      const end = frameHead + received.readUIntBE(0, 3);
      if (received.length < end) return;
      const [type, flag, stream] = [received[3], received[4] ?? 0, received.readUInt32BE(5)];
      received = received.subarray(end);
      if (type === types.settings && !(flag & flags.ack)) socket.write(frame('settings', flags.ack, 0));
      if (type === types.headers) requested(stream);
    }
  });
}

/** Creates a client that trusts the certificate, and closes it when the test ends. */
export function peerClient(certificate: { cert: string }) {
  const client = openPeerClient(certificate);
  onTestFinished(client.close);
  return client;
}

/** Creates a client that trusts the certificate. */
export function openPeerClient({ cert }: { cert: string }) {
  const connect = connector(lookup, (protocol, options) => openSocket(protocol, { ...options, ca: cert }));
  const { request, close } = httpClient(connect);
  /** Sends `count` requests at once. @returns the status or error code of each. */
  const send = (url: URL, count = 1, options: Partial<Parameters<typeof request>[1]> = {}) =>
    Promise.all(
      Array.from({ length: count }, (_, i) =>
        request(new URL(`/${i}`, url), { method: 'HEAD', ...options }).then(
          ({ status }) => status,
          ({ code, name }) => code ?? name,
        ),
      ),
    );
  return { request, send, close };
}
