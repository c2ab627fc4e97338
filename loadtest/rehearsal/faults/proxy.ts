import { type Fault, kill, lasting } from '../fault.ts';
import { noneFails, noneFailsLater } from '../judge.ts';

/** Faults of nginx and of what it stands on. */
export const proxyFaults: Fault[] = [
  {
    id: 'proxy-killed',
    fault: 'nginx is killed (SIGKILL)',
    promise:
      'Hot links and pages are back within 2 s. (Docker waits longer, twice as long each time, for what ran less than 10 s.)',
    judges: [noneFailsLater('began', 2)],
    cause: lasting(1, kill('proxy')),
  },
  {
    id: 'proxy-cache-lost',
    fault: 'The files of the edge cache are deleted',
    promise: 'Hot links and pages go on.',
    judges: [noneFails()],
    cause: lasting(3, async (stack) => {
      await stack.inside('proxy', 'rm -rf answers/* files/*');
    }),
  },
  {
    id: 'proxy-cache-read-only',
    fault: 'The edge cache cannot be written for 4 s',
    promise: 'Hot links and pages go on.',
    judges: [noneFails()],
    cause: lasting(4, async (stack) => {
      await stack.inside('proxy', 'rm -rf answers/* files/*; chmod 500 answers files');
      return () => stack.inside('proxy', 'chmod 700 answers files');
    }),
  },
  {
    id: 'names-gone',
    fault: 'The names of the applications cannot be resolved for 10 s',
    promise: 'Hot links and pages go on.',
    judges: [noneFails()],
    cause: lasting(10, (stack) => stack.loseNames()),
  },
];
