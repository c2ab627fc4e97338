import type { Dependencies } from '../web/dependencies.ts';
import type { Imports } from './imports.ts';
import { readingHandlers } from './reading.ts';
import { writingHandlers } from './writing.ts';

/** The handlers of the resource `tasks` and of the addresses of a single task. */
export function tasksHandlers(dependencies: Dependencies, imports: Imports) {
  return { ...readingHandlers(dependencies), ...writingHandlers(dependencies, imports) };
}
