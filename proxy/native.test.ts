import { afterAll, beforeAll, describe } from 'vitest';
import { browserWalk } from './suite/browser.ts';
import { type CrowdedStack, crowdRules } from './suite/crowd.ts';
import { expanderRules } from './suite/expander.ts';
import { proxyRules } from './suite/proxy.ts';
import { recoveryRules } from './suite/recovery.ts';
import { tasksRules } from './suite/tasks.ts';
import { startNative } from './testing/native.ts';

describe('The stack from outside, without Docker', () => {
  let stack: CrowdedStack;
  beforeAll(async () => {
    stack = await startNative();
  });
  afterAll(() => stack?.stop());

  proxyRules(() => stack);
  expanderRules(() => stack);
  tasksRules(() => stack);
  browserWalk(() => stack, 'native');
  recoveryRules(() => stack);
  crowdRules(() => stack);
});
