import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { type Stack, type StackOptions, startStack } from '../native/stack.ts';

export interface TemporaryStack extends Stack {
  readonly folder: string;
}

/**
 * Starts a stack for tests and measurements: on free ports, with data that `stop` removes, and with an expander that
 * may contact this machine.
 *
 * @param options.parent the folder of the stack's own.
 */
export async function startTemporaryStack({
  parent = tmpdir(),
  ...options
}: Partial<Omit<StackOptions, 'folder'>> & { parent?: string } = {}): Promise<TemporaryStack> {
  const folder = await mkdtemp(join(parent, 'longhand-stack-'));
  const ports = await freePorts('LONGHAND_PORT', 'LONGHAND_EXPANDER_PORT', 'LONGHAND_TASKS_PORT');
  const stack = await startStack({
    onLine() {},
    ...options,
    folder,
    env: {
      ...childEnvironment,
      ...options.env,
      ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, `${port}`])),
      EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8',
    },
  });
  const stop = async () => {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...stack, folder, stop };
}
