import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { EnvironmentError } from '@longhand/shared/env.ts';

const names = ['LONGHAND_PORT', 'LONGHAND_EXPANDER_PORT', 'LONGHAND_TASKS_PORT'] as const;
export type ProxyPorts = Record<(typeof names)[number], number>;

/**
 * Replaces 0 among the proxy's ports by free ones, and checks that nginx can listen on all of them.
 *
 * @throws Error with a message for people that names the first unusable port and the way out.
 */
export async function proxyPorts(wanted: ProxyPorts, address: string): Promise<ProxyPorts> {
  const ports = Object.fromEntries(names.map((name) => [name, wanted[name]])) as ProxyPorts;
  const servers: Server[] = [];
  try {
    for (const name of names) {
      const same = names.find(
        (other) => other !== name && ports[other] !== 0 && ports[other] === ports[name],
      );
      if (same) throw new EnvironmentError(`${name} and ${same} are both ${ports[name]}: they must differ.`);
      const server = await listenOn(name, ports[name], address);
      servers.push(server);
      ports[name] = (server.address() as AddressInfo).port;
    }
  } finally {
    for (const server of servers) {
      server.close();
      await once(server, 'close');
    }
  }
  return ports;
}

async function listenOn(name: string, port: number, address: string): Promise<Server> {
  const server = createServer();
  try {
    server.listen(port, address);
    await once(server, 'listening');
    return server;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Error(
        `Port ${port} is taken by another program: stop that, or choose another port, as in ${name}=18080 make up.`,
      );
    }
    const notHere = `LONGHAND_BIND=${address} is not an address of this machine.`;
    const sentences: Record<string, string> = {
      EACCES: `${name}=${port}: only root may listen there; choose a port from 1024 up.`,
      EADDRNOTAVAIL: notHere,
      EAFNOSUPPORT: notHere,
    };
    throw new EnvironmentError(sentences[code ?? ''] ?? `${name}=${port}: ${message}`);
  }
}
