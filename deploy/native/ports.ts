import { once } from 'node:events';
import { createServer } from 'node:net';
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
    const port = ports[name];
    const same = portNames.slice(0, i).find((other) => ports[other] === port);
    if (same) {
      faults.add(`${same} and ${name} are both ${port}: they must differ.`);
      continue;
    }
    try {
      await once(servers.use(createServer()).listen(port, address), 'listening');
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      faults.add(reasons[code]?.(name, port, address) ?? `${name}=${port}: ${message}`);
    }
  }
  if (faults.size > 0) throw new EnvironmentError([...faults].join('\n'));
}

const noSuchAddress = (_name: string, _port: number, address: string) =>
  `LONGHAND_BIND=${address} is not an address of this machine.`;

const reasons: Record<string, typeof noSuchAddress> = {
  EADDRINUSE: (name, port) =>
    `Port ${port} is taken by another program: stop that, or choose another port, as in ${name}=18080 make up.`,
  EACCES: (name, port) => `${name}=${port}: only root may listen there; choose a port from 1024 up.`,
  EADDRNOTAVAIL: noSuchAddress,
  EAFNOSUPPORT: noSuchAddress,
};
