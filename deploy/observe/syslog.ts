import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/**
 * Receives log lines as nginx sends them to `access_log syslog:…`: one datagram each, with a header before the record.
 *
 * @returns the port and how to stop.
 */
export async function receiveLines(
  at: { host: string; port: number },
  onLine: (line: string) => void,
): Promise<{ port: number; close(): void }> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
  socket.on('message', (datagram) => {
    const record = datagram.indexOf('{');
    if (record !== -1) onLine(datagram.toString('utf8', record));
  });
  socket.bind(at.port, at.host);
  await once(socket, 'listening');
  return { port: socket.address().port, close: () => socket.close() };
}
