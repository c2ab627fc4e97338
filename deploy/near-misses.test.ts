import { expect, test } from 'vitest';
import { nearMisses } from './near-misses.ts';
import { settingNames } from './variables.ts';

test.each([
  ['TASK_PASSWORD_FILE', 'TASKS_PASSWORD_FILE'],
  ['LONGAND_PORT', 'LONGHAND_PORT'],
  ['longhand_port', 'LONGHAND_PORT'],
  ['LOGNHAND_FRONT', 'LONGHAND_FRONT'],
  ['EXPANDR_KEYS_FLE', 'EXPANDER_KEYS_FILE'],
])('%s probably means %s', (name, meant) => {
  expect(nearMisses([name], settingNames)).toEqual([`${name}: unknown variable; did you mean ${meant}?`]);
});

test('names of other programs and our own names are no near misses', () => {
  const others = ['PATH', 'HOST', 'PORT', 'REDIS_URL', 'COMPOSE_PROJECT_NAME', 'OAUTH2_PROXY_COOKIE_SECRET'];
  expect(nearMisses([...others, ...settingNames], settingNames)).toEqual([]);
});
