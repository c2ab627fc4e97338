import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEnv, serviceVariables } from '@longhand/shared/env.ts';
import { expect, test } from 'vitest';
import { readSettings } from '../deploy/settings.ts';
import { allVariables, settingNames } from '../deploy/variables.ts';
import { readConfig as readExpanderConfig } from '../expander/src/config.ts';
import { readConfig as readTasksConfig } from '../tasks/src/config.ts';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(import.meta.dirname, 'configuration.md'), 'utf8');

/** The documented defaults, by variable. */
const documented = new Map(
  [...page.matchAll(/^\| `([A-Z_]+)` +\| (?:`([^`]+)`)?/gm)].map(([, name = '', value]) => [name, value]),
);

const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8');

/** The variables that the compose file uses. */
const composed = compose.matchAll(/\$\{([A-Z_]+)/g).map(([, name]) => name as string);

/** The defaults in the code, by variable. */
const defaults = { ...readEnv(allVariables, {}), ...readExpanderConfig({}), ...readTasksConfig({}) };

test('the page documents exactly the supported variables', () => {
  const known = new Set([...Object.keys(defaults), ...Object.keys(serviceVariables), ...composed]);
  expect([...documented.keys()].sort()).toEqual([...known].sort());
});

test('the settings check in containers gets every setting from the shell or from .env', () => {
  const [settings = ''] = /(?<=^x-settings: &settings\n)( {2}\w+:\n)+/m.exec(compose) ?? [];
  const ours = [...documented.keys()].filter((name) => /^(LONGHAND|EXPANDER|TASKS)_|^LOG_LEVEL$/.test(name));
  expect(settings.match(/\w+/g)?.toSorted()).toEqual(ours.toSorted());
  expect(settingNames.toSorted()).toEqual(ours.toSorted());
});

test('the settings check accepts every documented variable', async () => {
  const tools = ['EXPANDER_URL', 'TASKS_URL', 'TASKS_DIRECT_URL', 'LONGHAND_REGISTRY', 'LONGHAND_VERSION'];
  const all = Object.fromEntries([...documented.keys(), ...tools].map((name) => [name, ' ']));
  const unknown = { TASKS_COLOUR: 'red', EXPANDER_COLOUR: 'red', LONGHAND_COLOUR: 'red' };
  const { message } = await readSettings({ ...all, ...unknown }).catch((error) => error);
  const found = [...message.matchAll(/(\w+): unknown variable/g)].map(([, name]) => name);
  expect(found.toSorted()).toEqual(Object.keys(unknown).toSorted());
});

test.each(Object.entries(defaults))('%s has the documented default', (name, value) => {
  expect(documented.get(name) ?? '').toBe(String(value ?? ''));
});

test.each(['docker-compose.yml', 'Dockerfile'])('%s uses the documented defaults', (file) => {
  const text = readFileSync(join(root, file), 'utf8');
  const found = [...text.matchAll(/\b(LONGHAND_[A-Z_]+)(?::[-=]|=)([\w./]+)/g)]
    .map(([, name = '', value]) => [name, value] as const)
    .filter(([name]) => documented.get(name));
  expect(found.length).toBeGreaterThan(2);
  expect(found).toEqual(found.map(([name]) => [name, documented.get(name)]));
});
