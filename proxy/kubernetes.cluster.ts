import { afterAll, beforeAll, describe } from 'vitest';
import { acceptanceRules } from './suite/acceptance.ts';
import { applyStack } from './testing/kubernetes.ts';
import type { TestStack } from './testing/test-stack.ts';

describe('The stack from outside, in Kubernetes', () => {
  let stack: TestStack;
  beforeAll(async () => {
    stack = await applyStack();
  });
  afterAll(() => stack?.stop());

  acceptanceRules(() => stack);
});
