import http2, { type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';

/** Lets Node read the requests on `socket`, so that responses can be written to `socket` as raw frames. */
export function acceptHttp2(
  socket: TLSSocket,
  requested: (stream: ServerHttp2Stream, fields: IncomingHttpHeaders) => void,
): void {
  const transport = new Duplex({
    read() {},
    write(chunk, _, written) {
      if (!socket.writable) return written();
      socket.write(chunk, () => written());
    },
  });
  socket
    .on('data', (chunk) => transport.push(chunk))
    .on('error', () => {})
    .on('close', () => transport.destroy());
  http2
    .performServerHandshake(transport)
    .on('error', () => {})
    .on('stream', (stream, fields) =>
      requested(
        stream.on('error', () => {}),
        fields,
      ),
    );
}
