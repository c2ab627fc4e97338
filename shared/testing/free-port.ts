import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { createServer } from 'node:net';

/** The range lies above the ports that the expander refuses (up to 27017) and below Linux's ephemeral ports (from 32768). */
const firstPort = 28_000;
const lastPort = 31_999;

/**
 * Reserves a free TCP port of 127.0.0.1 until this process ends. A server can restart on the port, because neither other callers
 * nor outgoing connections use it.
 *
 * @param from the first port to try, by default random
 * @throws Error if no port is free
 */
export async function freePort(from = randomInt(firstPort, lastPort - 1_000)): Promise<number> {
  for (let port = from; port <= lastPort; port++) {
    // Reserve the port before the check, which briefly opens it and could disturb another caller.
    const lock = await reserve(port);
    if (lock && (await unused(port))) return port;
    lock?.close();
  }
  throw new Error(
    `Every port of 127.0.0.1 from ${from} to ${lastPort} is in use. Stop a program that uses one.`,
  );
}

function unused(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/**
 * Locks a port number until this process ends, by opening the UDP port. Resolves with undefined if the port is already locked.
 */
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
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await freePort()])));
}
