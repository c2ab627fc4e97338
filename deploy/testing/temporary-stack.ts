import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { logFile } from '../native/log.ts';
import { type Stack, type StackOptions, startStack } from '../native/stack.ts';

/** Returns free ports for a stack, with their variables and URLs. */
export async function freeStackPorts() {
  const ports = await freePorts('LONGHAND_PORT', 'LONGHAND_EXPANDER_PORT', 'LONGHAND_TASKS_PORT');
  const url = (port: number) => `http://127.0.0.1:${port}`;
  return {
    ports,
    variables: Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, `${port}`])),
    urls: {
      proxy: url(ports.LONGHAND_PORT),
      expander: url(ports.LONGHAND_EXPANDER_PORT),
      tasks: url(ports.LONGHAND_TASKS_PORT),
    },
  };
}

type StackUrls = Awaited<ReturnType<typeof freeStackPorts>>['urls'];

export interface TemporaryStack extends Stack {
  readonly folder: string;
  /** The proxy's URLs, without a trailing slash: one for all host names, and one for each application's own port. */
  readonly urls: StackUrls;
  /** nginx's log so far. */
  accessLog(): Promise<string>;
}

/**
 * Starts a stack for tests and measurements, on free ports. `stop` removes its data. The stack's expander may contact this
 * machine.
 */
export async function startTemporaryStack(
  options: Partial<Omit<StackOptions, 'folder'>> = {},
): Promise<TemporaryStack> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-stack-'));
  const { variables, urls } = await freeStackPorts();
  const stack = await startStack({
    onLine() {},
    ...options,
    folder,
    env: { ...childEnvironment, ...options.env, ...variables, EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' },
  });
  const stop = async () => {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const accessLog = () => readFile(join(folder, logFile), 'utf8');
  return { ...stack, folder, urls, accessLog, stop, [Symbol.asyncDispose]: stop };
}
