import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { createServer } from 'node:net';

/** Above 27017, the highest port that the expander refuses, and below the ports of outgoing connections (Linux: from 32768). */
const firstPort = 28_000;
const lastPort = 31_999;

/**
 * Reserves a free TCP port of 127.0.0.1 until this process ends: no other caller on this machine gets it, and no outgoing
 * connection uses it, so a server may restart on it.
 *
 * @param from the first port to try, by default random.
 * @throws Error if no port is free.
 */
export async function freePort(from = randomInt(firstPort, lastPort - 1_000)): Promise<number> {
  for (let port = from; port <= lastPort; port++) {
    // The check opens the port for a moment, which would disturb another caller.
    const mark = await reserve(port);
    if (mark && (await unused(port))) return port;
    mark?.close();
  }
  throw new Error(
    `Every port of 127.0.0.1 from ${from} to ${lastPort} is taken. Stop a program that uses one.`,
  );
}

function unused(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Holds the UDP port with the same number until this process ends. */
function reserve(port: number): Promise<Socket | undefined> {
  const socket = createSocket('udp4').unref();
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close();
      resolve(undefined);
    });
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(socket));
  });
}

/** Reserves a free port for each name. */
export async function freePorts<Name extends string>(...names: Name[]): Promise<Record<Name, number>> {
  const ports = await Promise.all(names.map(async (name) => [name, await freePort()]));
  return Object.fromEntries(ports);
}
