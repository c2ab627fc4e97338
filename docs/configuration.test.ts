import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serviceVariables } from '@longhand/shared/env.ts';
import { variableNames } from '@longhand/shared/variable-names.ts';
import { expect, test } from 'vitest';
import { readSettings } from '../deploy/settings.ts';
import { readConfig as readExpanderConfig } from '../expander/src/config.ts';
import { readConfig as readTasksConfig } from '../tasks/src/config.ts';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(import.meta.dirname, 'configuration.md'), 'utf8');

/** The names in the first column of the page's tables, with their defaults. */
const documented = new Map(
  [...page.matchAll(/^\| `([A-Z_]+)` +\| (?:`([^`]+)`)?/gm)].map(([, name = '', value]) => [name, value]),
);

/** The names that the compose file takes from the environment. */
const composed = readFileSync(join(root, 'docker-compose.yml'), 'utf8')
  .matchAll(/\$\{([A-Z_]+)/g)
  .map(([, name]) => name as string);

/** Every variable of the schemas, with its default. */
const defaults = {
  ...readSettings({}),
  ...readExpanderConfig({}),
  ...readTasksConfig({}),
};

test('every variable is documented, and every documented variable exists', () => {
  const known = new Set([...Object.keys(defaults), ...Object.keys(serviceVariables), ...composed]);
  expect([...documented.keys()].sort()).toEqual([...known].sort());
});

test('the names of ours are those that are documented, and a few of tools', () => {
  const tools = ['EXPANDER_URL', 'TASKS_URL', 'TASKS_DIRECT_URL', 'LONGHAND_REGISTRY', 'LONGHAND_VERSION'];
  const ours = [...documented.keys()].filter((name) => /^(LONGHAND|EXPANDER|TASKS)_/.test(name));
  expect(variableNames.toSorted()).toEqual([...ours, ...tools].toSorted());
});

test.each(Object.entries(defaults))('the documented default of %s is the one in the code', (name, value) => {
  expect(documented.get(name) ?? '').toBe(String(value ?? ''));
});
