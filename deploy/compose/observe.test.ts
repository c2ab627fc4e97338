import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const composeFile = readFileSync(join(import.meta.dirname, '../../docker-compose.yml'), 'utf8');

/** The networks of each service that is only there with the profile. */
const observers = composeFile
  .split(/^ {2}(?=[\w-]+:$)/m)
  .filter((block) => block.includes('profiles: [observe]'))
  .map((block) => [/^[\w-]+/.exec(block)?.[0], /networks: \[(.*)\]/.exec(block)?.[1]?.split(', ')]);

test('the profile observe adds three containers, and the applications get no network in common', () => {
  expect(Object.fromEntries(observers)).toEqual({
    prometheus: ['front', 'to-expander', 'to-tasks', 'observe'],
    grafana: ['front', 'observe'],
    exporters: ['observe', 'to-expander-cache', 'to-tasks-store'],
  });
  const applications = composeFile.match(/networks: \[to-(expander|tasks), to-\1-\w+(, egress)?\]/g);
  expect(applications).toHaveLength(2);
});
