import { once } from 'node:events';
import { createServer } from 'node:net';
import { EnvironmentError } from '@longhand/shared/environment-error.ts';

/** The variables with the ports of the proxy. */
export const portNames = ['LONGHAND_PORT', 'LONGHAND_EXPANDER_PORT', 'LONGHAND_TASKS_PORT'] as const;

/**
 * The addresses that the proxy listens on, as in a URL.
 *
 * @param bind an IP address; `::` stands for every address of both families, as in most servers.
 */
export function addressesOf(bind: string): [string, ...string[]] {
  const { hostname } = new URL(`http://${bind.includes(':') ? `[${bind}]` : bind}`);
  return hostname === '[::]' ? ['0.0.0.0', '[::]'] : [hostname];
}

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
  const faults: string[] = [];
  for (const name of portNames) {
    await once(servers.use(createServer()).listen(ports[name], address), 'listening').catch(({ message }) =>
      faults.push(`${name}=${ports[name]}: ${message}`),
    );
  }
  if (faults.length === 0) return;
  const cure =
    'Choose three free ports, above 1023 unless root starts the stack, as in LONGHAND_PORT=18080 make up. ' +
    'LONGHAND_BIND must be an address of this machine.';
  throw new EnvironmentError([...faults, cure].join('\n'));
}
