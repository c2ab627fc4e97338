import { afterAll, beforeAll, describe } from 'vitest';
import { browserWalk } from './suite/browser.ts';
import { expanderRules } from './suite/expander.ts';
import { proxyRules } from './suite/proxy.ts';
import { recoveryRules } from './suite/recovery.ts';
import { tasksRules } from './suite/tasks.ts';
import { applyStack } from './testing/kubernetes.ts';
import type { TestStack } from './testing/test-stack.ts';

describe('The stack from outside, in Kubernetes', () => {
  let stack: TestStack;
  beforeAll(async () => {
    stack = await applyStack();
  });
  afterAll(() => stack?.stop());

  proxyRules(() => stack);
  expanderRules(() => stack);
  tasksRules(() => stack);
  browserWalk(() => stack, 'kubernetes');
  recoveryRules(() => stack);
});
