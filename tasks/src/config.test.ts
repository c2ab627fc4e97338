import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

test('without variables the defaults hold', () => {
  expect(readConfig({})).toMatchObject({
    HOST: '127.0.0.1',
    PORT: 3000,
    OPS_PORT: 9464,
    REDIS_URL: 'redis://127.0.0.1:6379/0',
  });
});

test('unknown variables of ours and bad values are named together', () => {
  const read = () => readConfig({ TASKS_COLOUR: 'red', PORT: '99999', REDIS_URL: 'http://x' });
  expect(read).toThrow(/TASKS_COLOUR/);
  expect(read).toThrow(/PORT=99999/);
  expect(read).toThrow(/REDIS_URL=http:\/\/x/);
});
