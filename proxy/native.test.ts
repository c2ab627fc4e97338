import { afterAll, beforeAll, describe } from 'vitest';
import { acceptanceRules } from './suite/acceptance.ts';
import { type CrowdedStack, crowdRules } from './suite/crowd.ts';
import { startNative } from './testing/native.ts';

describe('The stack from outside, without Docker', () => {
  let stack: CrowdedStack;
  beforeAll(async () => {
    stack = await startNative();
  });
  afterAll(() => stack?.stop());

  acceptanceRules(() => stack);
  crowdRules(() => stack);
});
