import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { EnvironmentError } from '@longhand/shared/environment-error.ts';

/** The variables with the ports of the proxy. */
export const portNames = ['LONGHAND_PORT', 'LONGHAND_EXPANDER_PORT', 'LONGHAND_TASKS_PORT'] as const;

/**
 * Checks that nginx can listen on all ports of the proxy.
 *
 * @throws EnvironmentError that names every unusable port and the way out.
 */
export async function checkPorts(
  ports: Record<(typeof portNames)[number], number>,
  address: string,
): Promise<void> {
  await using servers = new AsyncDisposableStack();
  const faults = new Set<string>();
  for (const [i, name] of portNames.entries()) {
    const same = portNames.slice(0, i).find((other) => ports[other] === ports[name]);
    try {
      if (same) faults.add(`${same} and ${name} are both ${ports[name]}: they must differ.`);
      else servers.use(await listenOn(ports[name], address));
    } catch (error) {
      faults.add(explain(error as NodeJS.ErrnoException, name, ports[name], address));
    }
  }
  if (faults.size > 0) throw new EnvironmentError([...faults].join('\n'));
}

async function listenOn(port: number, address: string): Promise<Server> {
  const server = createServer().listen(port, address);
  await once(server, 'listening');
  return server;
}

function explain(
  { code, message }: NodeJS.ErrnoException,
  name: string,
  port: number,
  address: string,
): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} is taken by another program: stop that, or choose another port, as in ${name}=18080 make up.`;
    case 'EACCES':
      return `${name}=${port}: only root may listen there; choose a port from 1024 up.`;
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
      return `LONGHAND_BIND=${address} is not an address of this machine.`;
    default:
      return `${name}=${port}: ${message}`;
  }
}
