import { type Faults, lasting, signalled } from '../fault.ts';
import { noneFails, noneFailsLater } from '../judge.ts';

/** Faults of nginx, its caches and its resolver. */
export const proxyFaults: Faults = {
  'proxy-killed': {
    judges: [noneFailsLater('began', 2)],
    cause: lasting(1, signalled('KILL', 'proxy')),
  },
  'proxy-cache-lost': {
    judges: [noneFails()],
    cause: lasting(3, async (stack) => {
      await stack.inside('proxy', 'rm -rf answers/* files/*');
    }),
  },
  'proxy-cache-read-only': {
    judges: [noneFails()],
    cause: lasting(4, async (stack) => {
      await stack.inside('proxy', 'rm -rf answers/* files/*; chmod 500 answers files');
      return () => stack.inside('proxy', 'chmod 700 answers files');
    }),
  },
  'names-gone': {
    judges: [noneFails()],
    cause: lasting(10, (stack) => stack.loseNames()),
  },
};
