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
  for (const name of portNames) {
    const port = ports[name];
    const [same, other] = portNames.filter((each) => ports[each] === port);
    const noSuchAddress = `LONGHAND_BIND=${address} is not an address of this machine.`;
    const reasons: Record<string, string> = {
      EADDRINUSE: other
        ? `${same} and ${other} are both ${port}: they must differ.`
        : `Port ${port} is taken by another program: stop that, or choose another port, as in ${name}=18080 make up.`,
      EACCES: `${name}=${port}: only root may listen there; choose a port from 1024 up.`,
      EADDRNOTAVAIL: noSuchAddress,
      EAFNOSUPPORT: noSuchAddress,
    };
    try {
      await once(servers.use(createServer()).listen(port, address), 'listening');
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      faults.add(reasons[code] ?? `${name}=${port}: ${message}`);
    }
  }
  if (faults.size > 0) throw new EnvironmentError([...faults].join('\n'));
}
