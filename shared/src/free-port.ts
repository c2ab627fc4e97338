import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/**
 * Below what systems give to outgoing connections (Linux from 32768, RFC 6335 section 6 from 49152), and above
 * MongoDB's 27017, the highest that the expander refuses.
 */
const lowest = 28_000;
const highest = 31_999;

/**
 * A TCP port of 127.0.0.1 that nothing listens on. Until this process ends nobody else gets it from here, in
 * this process or another, and no outgoing connection takes it: who listens on it may stop and start again.
 *
 * @param from where to begin to look; anywhere unless said, so that nobody is mistaken for who was there before.
 * @throws Error where every port from there on is taken.
 */
export async function freePort(from = randomInt(lowest, highest - 1_000)): Promise<number> {
  for (let port = from; port <= highest; port++) {
    if ((await unused(port)) && (await reserve(port))) return port;
  }
  throw new Error(`Every port of 127.0.0.1 from ${from} to ${highest} is taken: stop what uses them.`);
}

function unused(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Holds the UDP port of the same number, which nobody here uses, for as long as this process lives. */
function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close();
      resolve(false);
    });
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
}
