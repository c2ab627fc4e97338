import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import lock from '../package-lock.json' with { type: 'json' };

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);

describe('The lock file', () => {
  type Locked = { integrity?: string; link?: boolean; optional?: boolean };
  const packages = Object.entries(lock.packages as Record<string, Locked>)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .map(([path, locked]) => ({ name: path.replace(/.*node_modules\//, ''), ...locked }));
  const exceptions = matches(read('SECURITY.md'), /^\| `([\w@/-]+)\*`/gm);
  const isExcepted = (name: string) => exceptions.some((prefix) => name.startsWith(prefix));

  test('has a SHA-512 hash for every package, except those listed in SECURITY.md', () => {
    const without = packages.filter(({ integrity }) => !integrity?.startsWith('sha512-'));
    expect(without.filter(({ name, optional }) => !optional || !isExcepted(name))).toEqual([]);
    for (const prefix of exceptions)
      expect([prefix, without.some(({ name }) => name.startsWith(prefix))]).toEqual([prefix, true]);
  });
});

describe('Images', () => {
  const compose = readdirSync(root).filter((name) => /^docker-compose.*\.yml$/.test(name));
  const images = [
    ...matches(read('Dockerfile'), /^FROM (\S+:\S+)/gm),
    ...compose.flatMap((name) => matches(read(name), /^ *image: (\S+)/gm)),
  ];

  test('have exact tags, except those listed in SECURITY.md', () => {
    const inexact = images.filter((image) => !/:v?\d+\.\d+\.\d+(?:-|$)/.test(image));
    for (const image of inexact) expect(read('SECURITY.md')).toContain(`\`${image}\``);
  });

  test('contain the Node and k6 versions that the tests use', () => {
    expect(images).toContain(`node:${manifest.dependencies.node}-trixie-slim`);
    const { k6 } = JSON.parse(read('loadtest/package.json')).config;
    expect(images).toContain(`grafana/k6:${k6.slice(1)}`);
  });
});

describe.each(['ci', 'release'])('The workflow %s', (name) => {
  const workflow = read(`.github/workflows/${name}.yml`);

  test('pins every action to a commit, with the version in a comment', () => {
    const uses = matches(workflow, /uses: (.*)$/gm);
    expect(uses.length).toBeGreaterThan(0);
    for (const action of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('uses the same Node version as the tests', () => {
    expect(new Set(matches(workflow, /node-version: (\S+)/g))).toEqual(new Set([manifest.dependencies.node]));
  });

  test('uses no secrets, default permissions or persisted credentials', () => {
    expect(workflow).toMatch(/^permissions: \{\}$/m);
    expect(matches(workflow, /(secrets\.|pull_request_target)/g)).toEqual([]);
    expect(matches(workflow, /(actions\/checkout)/g)).toHaveLength(
      matches(workflow, /(persist-credentials: false)/g).length,
    );
  });
});

test('make sbom lists the runtime packages of a service with their hashes', () => {
  const bom = JSON.parse(execFileSync(join(root, 'deploy/release/sbom.sh'), ['tasks'], { encoding: 'utf8' }));
  const components = bom.components as { name: string; hashes?: unknown[] }[];
  const names = components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['hono', 'ioredis', 'zod', 'pino', 'prom-client']));
  expect(names.filter((name) => /^(typescript|vitest|testcontainers|playwright-core)$/.test(name))).toEqual(
    [],
  );
  expect(components.filter(({ name, hashes }) => !hashes && !/^(shared|tasks)$/.test(name))).toEqual([]);
});
