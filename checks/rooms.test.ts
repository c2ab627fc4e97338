import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

type Arrows = Record<string, readonly string[]>;

/** Allowed imports ("Rooms" in CONTRIBUTING.md). A room without an entry can import any room in its workspace. */
const rooms: Record<string, Arrows> = {
  expander: {
    web: ['bulk'],
    bulk: ['expansion'],
    hop: ['guard'],
    guard: ['expansion'],
    limits: ['expansion'],
    cache: ['expansion'],
    expansion: [],
  },
  tasks: { handlers: ['web'], web: ['task'], redis: ['task'], task: [] },
};
const workspaces: Arrows = {
  expander: ['shared'],
  tasks: ['shared'],
  deploy: ['shared'],
  acceptance: ['loadtest', 'proxy'],
  loadtest: ['deploy'],
  // The error pages use the error codes of tasks.
  proxy: ['deploy', 'shortener', 'tasks'],
  shared: [],
  shortener: [],
};
const frameworks = /^(@?hono|ioredis|undici|eta|prom-client)(\/|$)/;

/** Whether a path of arrows leads from `from` to `to`. */
const reaches = (arrows: Arrows, from: string, to: string): boolean =>
  from === to || (arrows[from] ?? []).some((next) => reaches(arrows, next, to));

function allowed(file: string, specifier: string): boolean {
  const [workspace = '', , room = ''] = file.split('/');
  const path = specifier.startsWith('.')
    ? join(dirname(file), specifier)
    : specifier.replace('@longhand/', '');
  const [to = '', , toRoom = ''] = path.split('/');
  if (!(to in workspaces)) return !(['expansion', 'task'].includes(room) && frameworks.test(specifier));
  if (file.includes('/src/') && path.includes('/testing/')) return false;
  if (path === `${workspace}/package.json`) return true;
  // deploy/settings.ts collects the errors of both services.
  if (file === 'deploy/settings.ts' && path.endsWith('/src/config.ts')) return true;
  if (to !== workspace) return reaches(workspaces, workspace, to);
  const arrows = rooms[workspace] ?? {};
  return !(room in arrows) || reaches(arrows, room, toRoom);
}

/** All imports of a file, including type imports and dynamic imports. */
function imports(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const { staticImports, staticExports } = parseSync(file, text).module;
  const requests = [...staticImports, ...staticExports.flatMap(({ entries }) => entries)];
  const later = text.matchAll(/\bimport\(['"`]([^'"`]*)/g).map(([, specifier = '']) => specifier);
  return [...requests.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []), ...later];
}

test('every import follows the arrows in CONTRIBUTING.md', () => {
  const others = ['acceptance', 'deploy', 'loadtest', 'proxy', 'shortener'].map((name) => `${name}/*.ts`);
  const paths = ['*/src/*.ts', ...others, ':!*/src/*.test.ts', ':!shortener/*.test.ts'];
  const listed = execFileSync('git', ['ls-files', '--', ...paths], { encoding: 'utf8' });
  const files = listed.trim().split('\n');
  const faults = files.flatMap((file) =>
    imports(file).flatMap((specifier) => (allowed(file, specifier) ? [] : [`${file} imports ${specifier}`])),
  );
  expect(faults).toEqual([]);
  expect(files.length).toBeGreaterThan(100);
});

test.each([
  ['expander/src/expansion/chain.ts', '../hop/fetch-hop.ts'],
  ['expander/src/expansion/chain.ts', '../config.ts'],
  ['expander/src/expansion/chain.ts', 'hono/html'],
  ['expander/src/web/api.ts', '../guard/guard.ts'],
  ['expander/src/guard/lookup.ts', '../limits/rate.ts'],
  ['expander/src/limits/single-flight.ts', '../cache/expansions.ts'],
  ['expander/src/cache/expansions.ts', '@longhand/deploy/native/main.ts'],
  ['expander/src/main.ts', '../../tasks/src/main.ts'],
  ['tasks/src/handlers/tasks.ts', '../redis/store.ts'],
  ['tasks/src/task/task.ts', '@hono/node-server'],
  ['shared/src/serve.ts', '../testing/free-port.ts'],
  ['shared/src/serve.ts', '@longhand/shortener'],
  ['deploy/native/main.ts', '../../tasks/src/config.ts'],
  ['loadtest/run.ts', '@longhand/proxy/testing/send.ts'],
])('%s cannot import %s', (file, specifier) => expect(allowed(file, specifier)).toBe(false));
