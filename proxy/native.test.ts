import { afterAll, beforeAll, describe } from 'vitest';
import { browserWalk } from './suite/browser.ts';
import { expanderRules } from './suite/expander.ts';
import { proxyRules } from './suite/proxy.ts';
import { recoveryRules } from './suite/recovery.ts';
import { tasksRules } from './suite/tasks.ts';
import { startNative } from './testing/native.ts';
import type { TestStack } from './testing/test-stack.ts';

describe('The stack from outside, without Docker', () => {
  let stack: TestStack;
  beforeAll(async () => {
    stack = await startNative();
  });
  afterAll(() => stack?.stop());

  proxyRules(() => stack);
  expanderRules(() => stack);
  tasksRules(() => stack);
  browserWalk(() => stack, 'native');
  recoveryRules(() => stack);
});
