import {
  followsDescription,
  needSchemathesis,
  schemathesisTimeout as timeout,
} from '@longhand/shared/testing/schemathesis.ts';
import { onTestFinished, test } from 'vitest';
import { serviceOfTest } from '../../testing/service.ts';
import { startStore } from '../../testing/store.ts';

test('schemathesis finds no deviation from the description', { timeout }, async (context) => {
  needSchemathesis(context);
  const { url, stop } = await startStore();
  onTestFinished(stop);
  await followsDescription((await serviceOfTest({ REDIS_URL: url })).url, 'tasks');
});
