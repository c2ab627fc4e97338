import { engineAnswers } from '@longhand/shared/testing/engine.ts';
import { afterAll, beforeAll, describe } from 'vitest';
import { backupRules } from './suite/backup.ts';
import { browserWalk } from './suite/browser.ts';
import { containerRules } from './suite/containers.ts';
import { crowdRules } from './suite/crowd.ts';
import { expanderRules } from './suite/expander.ts';
import { proxyRules } from './suite/proxy.ts';
import { recoveryRules } from './suite/recovery.ts';
import { replicaRules } from './suite/replicas.ts';
import { tasksRules } from './suite/tasks.ts';
import { type ComposedStack, startComposed } from './testing/composed.ts';

const engine = await engineAnswers();
if (!engine)
  console.warn('Skipped: the stack in containers, because no Docker engine answers on this machine.');

describe.skipIf(!engine)('The stack from outside, in containers', () => {
  let stack: ComposedStack;
  beforeAll(async () => {
    stack = await startComposed();
  }, 300_000);
  afterAll(() => stack?.stop());

  proxyRules(() => stack);
  expanderRules(() => stack);
  tasksRules(() => stack);
  browserWalk(() => stack, 'composed');
  recoveryRules(() => stack);
  containerRules(() => stack);
  backupRules(() => stack);
  crowdRules(() => stack);
  replicaRules(() => stack);
});
