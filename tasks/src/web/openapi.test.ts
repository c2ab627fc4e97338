import {
  followsDescription,
  needSchemathesis,
  schemathesisTimeout as timeout,
} from '@longhand/shared/testing/schemathesis.ts';
import { test } from 'vitest';
import { startService } from '../../testing/service.ts';
import { startStore } from '../../testing/store.ts';

test('schemathesis finds no deviation from the description', {
  timeout,
}, async (context) => {
  needSchemathesis(context);
  const kept = await startStore();
  const service = await startService({ REDIS_URL: kept.url });
  try {
    await followsDescription(service.url, 'tasks');
  } finally {
    await service.end('SIGKILL');
    await kept.stop();
  }
});
