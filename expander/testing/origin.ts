import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import tls from 'node:tls';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { data, head } from './http2-frames.ts';
import { acceptHttp2 } from './http2-server.ts';

/** `bytes` is a response of HTTP/1.1. `piece` is the number of bytes per write. By default, one write sends all bytes. */
type Response = { bytes: string; piece?: number };

export type Protocol = 'HTTP/1.1' | 'HTTP/2';

/**
 * Starts a website in a new thread, so that it does not use this thread's CPU time. `answer` sets the website's response. With
 * HTTP/2, it is at https.
 */
export async function startOrigin(protocol: Protocol = 'HTTP/1.1') {
  const certificate = protocol === 'HTTP/2' ? await testCertificate('*.h2.localhost') : null;
  const worker = new Worker(new URL(import.meta.url), { workerData: certificate });
  const [port] = await once(worker, 'message');
  return {
    /** The certificate that clients need to trust. */
    certificate: certificate?.cert ?? '',
    /** Returns a URL of the website. With HTTP/2, each has its own origin, because an origin that breaks HTTP/2 gets HTTP/1.1. */
    target: (id: string) =>
      certificate ? `https://${id}.h2.localhost:${port}/${id}` : `http://127.0.0.1:${port}/${id}`,
    async answer(response: Response): Promise<void> {
      worker.postMessage(response);
      await once(worker, 'message');
    },
    close: () => worker.terminate(),
  };
}

function serve(
  parent: NonNullable<typeof parentPort>,
  certificate: { key: string; cert: string } | null,
): void {
  let response: Response = { bytes: '' };
  parent.on('message', (next: Response) => {
    response = next;
    parent.postMessage('ready');
  });
  const answerHttp1 = (socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', async () => {
      await write(socket, Buffer.from(response.bytes, 'latin1'), response.piece);
      socket.end();
    });
  };
  const server = certificate
    ? tls.createServer({ ...certificate, noDelay: true, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
        if (socket.alpnProtocol !== 'h2') return answerHttp1(socket);
        acceptHttp2(socket, ({ id = 0 }, { ':method': method }) =>
          write(socket, framesOf(response, id, method === 'HEAD')),
        );
      })
    : createServer({ noDelay: true }, answerHttp1);
  server.listen(0, '127.0.0.1', () => parent.postMessage((server.address() as AddressInfo).port));
}

async function write(socket: Socket, bytes: Buffer, piece = bytes.length): Promise<void> {
  for (let sent = 0; sent < bytes.length && !socket.destroyed; sent += piece) {
    socket.write(bytes.subarray(sent, sent + piece));
    if (piece < bytes.length) await setImmediate();
  }
}

/** Converts a response of HTTP/1.1, with all its lines, whether or not they are headers. Each piece of the body is a frame. */
function framesOf({ bytes, piece = 16_384 }: Response, stream: number, headOnly: boolean): Buffer {
  const end = bytes.indexOf('\r\n\r\n');
  const [start = '', ...lines] = bytes.slice(0, end).split('\r\n');
  const fields = lines.map((line) => {
    const [name = '', ...value] = line.split(':');
    return [name.toLowerCase(), value.join(':').trim()] as const;
  });
  const body = bytes.slice(end + 4);
  const frames = [head(stream, [[':status', start.split(' ')[1] ?? ''], ...fields], headOnly)];
  for (let at = 0; !headOnly && at < body.length; at += piece)
    frames.push(data(stream, body.slice(at, at + piece), false));
  if (!headOnly) frames.push(data(stream, ''));
  return Buffer.concat(frames);
}

if (!isMainThread && parentPort) serve(parentPort, workerData);
