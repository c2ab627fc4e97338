import type { TestStack } from '../testing/test-stack.ts';
import { expanderRules } from './expander.ts';
import { proxyRules } from './proxy.ts';
import { recoveryRules } from './recovery.ts';
import { tasksRules } from './tasks.ts';

/** What holds for a stack from outside, however it runs. */
export function acceptanceRules(stack: () => TestStack): void {
  proxyRules(stack);
  expanderRules(stack);
  tasksRules(stack);
  recoveryRules(stack);
}
