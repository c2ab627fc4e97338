import { afterAll, beforeAll, describe } from 'vitest';
import { acceptanceRules } from './suite/acceptance.ts';
import { browserWalk } from './suite/browser.ts';
import { applyStack } from './testing/cluster.ts';

describe('The stack from outside, in Kubernetes', () => {
  let stack: Awaited<ReturnType<typeof applyStack>>;
  beforeAll(async () => {
    stack = await applyStack();
  });
  afterAll(() => stack?.stop());

  acceptanceRules(() => stack);
  browserWalk(() => stack);
});
