import { clientAddress } from '@longhand/shared/client-address.ts';
import { TaskError } from '../task/errors.ts';
import type { TasksContext } from '../web/context.ts';

/** Maximum concurrent imports per process. Each client may run one. An import takes at most a second of CPU time. */
const maxImports = 2;

export type Imports = ReturnType<typeof createImports>;

/** Limits the imports that run at a time. Refuses other imports, because their waiting bodies would fill the memory. */
export function createImports() {
  const clients = new Set<string>();
  /** @throws TaskError `too_many_imports` */
  const requirePlace = (c: TasksContext): void => {
    if (clients.has(clientAddress(c)) || clients.size === maxImports)
      throw new TaskError('too_many_imports', 'Another import is running. Please try again in a moment.');
  };
  return {
    /** Call this before reading a body of 1 MiB, which would delay other clients for nothing. */
    requirePlace,
    /** @throws TaskError `too_many_imports`, and errors from `run` */
    async inPlace<Result>(c: TasksContext, run: () => Promise<Result>): Promise<Result> {
      requirePlace(c);
      const client = clientAddress(c);
      clients.add(client);
      try {
        return await run();
      } finally {
        clients.delete(client);
      }
    },
  };
}
