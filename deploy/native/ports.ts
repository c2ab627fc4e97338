import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { EnvironmentError } from '@longhand/shared/environment-error.ts';

const names = ['LONGHAND_PORT', 'LONGHAND_EXPANDER_PORT', 'LONGHAND_TASKS_PORT'] as const;
export type ProxyPorts = Record<(typeof names)[number], number>;

/**
 * Replaces 0 among the proxy's ports by free ones, and checks that nginx can listen on all of them.
 *
 * @throws EnvironmentError that names every unusable port and the way out.
 */
export async function proxyPorts(wanted: ProxyPorts, address: string): Promise<ProxyPorts> {
  const ports = Object.fromEntries(names.map((name) => [name, wanted[name]])) as ProxyPorts;
  await using servers = new AsyncDisposableStack();
  const faults = new Set<string>();
  for (const [i, name] of names.entries()) {
    const same = names.slice(0, i).find((other) => wanted[other] !== 0 && wanted[other] === wanted[name]);
    if (same) {
      faults.add(`${same} and ${name} are both ${wanted[name]}: they must differ.`);
      continue;
    }
    try {
      const server = servers.use(await listenOn(name, wanted[name], address));
      ports[name] = (server.address() as AddressInfo).port;
    } catch (error) {
      faults.add((error as EnvironmentError).message);
    }
  }
  if (faults.size > 0) throw new EnvironmentError([...faults].join('\n'));
  return ports;
}

/** @throws EnvironmentError */
async function listenOn(name: string, port: number, address: string): Promise<Server> {
  const server = createServer();
  try {
    server.listen(port, address);
    await once(server, 'listening');
    return server;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new EnvironmentError(
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
