import { createServer } from 'node:net';
import { freePort } from '@longhand/shared/testing/free-port.ts';

const names = ['LONGHAND_PORT', 'LONGHAND_EXPANDER_PORT', 'LONGHAND_TASKS_PORT'] as const;
type Ports = Record<(typeof names)[number], number>;

/**
 * Replaces 0 among the proxy's ports by free ones, and checks that nginx can listen on all of them.
 *
 * @throws Error with a message for people that names the first unusable port and the way out.
 */
export async function proxyPorts(wanted: Ports, address: string): Promise<Ports> {
  const ports = { ...wanted };
  for (const name of names) {
    ports[name] ||= await freePort();
    const same = names.find((other) => other !== name && ports[other] === ports[name]);
    if (same) throw new Error(`${name} and ${same} are both ${ports[name]}: they must differ.`);
    await assertUsable(name, ports[name], address);
  }
  return ports;
}

async function assertUsable(name: string, port: number, address: string): Promise<void> {
  const server = createServer();
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject).listen(port, address, listening.resolve);
  try {
    await listening.promise;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const sentences: Record<string, string> = {
      EADDRINUSE:
        `Port ${port} is taken by another program: stop that, or choose another port, ` +
        `as in ${name}=18080 make up.`,
      EACCES: `${name}=${port}: only root may listen there; choose a port from 1024 up.`,
      EADDRNOTAVAIL: `LONGHAND_BIND=${address} is not an address of this machine.`,
    };
    throw new Error(sentences[code ?? ''] ?? `${name}=${port}: ${message}`);
  }
  await new Promise((resolve) => server.close(resolve));
}
