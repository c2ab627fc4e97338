import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';

/** Frame types and flags (RFC 9113 section 6). */
const types = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
};
const flags = { endStream: 1, ack: 1, endHeaders: 4 };

export const errors = { internal: 2, refused: 7, cancel: 8, enhanceYourCalm: 11, http11Required: 13 };
export const settings = { maxConcurrentStreams: 3, initialWindowSize: 4 };

const prefaceLength = 24;
const frameHead = 9;
const maxFrame = 16_384;

type Fields = readonly (readonly [name: string, value: string])[];

/** Serializes a frame. */
export function frame(
  type: keyof typeof types,
  flag: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
) {
  const head = Buffer.alloc(frameHead);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = types[type];
  head[4] = flag;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const uint32 = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i);
  return bytes;
};

/** Serializes a head, without Huffman coding or the dynamic table (RFC 7541 section 6.2.2). */
function fieldBlock(fields: Fields): Buffer {
  const text = (value: string) => Buffer.concat([lengthPrefix(value.length), Buffer.from(value, 'latin1')]);
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

/** Serializes a length with a 7-bit prefix (RFC 7541 section 5.1). */
function lengthPrefix(length: number): Buffer {
  if (length < 127) return Buffer.from([length]);
  const bytes = [127];
  let rest = length - 127;
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

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
    const block = fieldBlock([[':status', status], ...fields]);
    const frames: Buffer[] = [];
    for (let at = 0; at < block.length; at += maxFrame) {
      const isLast = at + maxFrame >= block.length;
      const flag = (isLast ? flags.endHeaders : 0) | (at === 0 && isEnd ? flags.endStream : 0);
      frames.push(
        frame(at === 0 ? 'headers' : 'continuation', flag, this.stream, block.subarray(at, at + maxFrame)),
      );
    }
    return Buffer.concat(frames);
  }

  data(text: string, isEnd = true): Buffer {
    return frame('data', isEnd ? flags.endStream : 0, this.stream, Buffer.from(text, 'latin1'));
  }

  reset(code: number): void {
    this.send(frame('reset', 0, this.stream, uint32(code)));
  }

  /** Announces the end of the session. The server has processed streams up to `lastStream`. */
  goAway(code: number, lastStream: number): void {
    this.send(frame('goAway', 0, 0, uint32(lastStream, code)));
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
  const server = tls.createServer({ ...certificate, ALPNProtocols: protocols }, (socket) => {
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
