import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { Need } from '../capacity/model.ts';
import { kustomizePatch } from './kustomize.ts';

const kubernetes = join(import.meta.dirname, '../../deploy/kubernetes');
const base = join(kubernetes, 'base');

const need = (part: string, count: number, cores: number, megabytes: number): Need => ({
  ...{ part, count, cores, memory: megabytes * 2 ** 20 },
  ...{ sockets: 0, note: '' },
});
const needs = [
  need('proxy', 5, 3.2, 40),
  need('expander', 3, 2.04, 300),
  need('tasks', 1, 0.2, 90),
  need('expander-cache', 1, 0.3, 64),
  need('tasks-store', 1, 0.004, 20),
];
const patch = kustomizePatch(needs);

// biome-ignore lint/suspicious/noExplicitAny: what YAML holds
type Node = any;

const requested = {
  proxy: { replicas: 3, requests: { cpu: '1067m', memory: '40Mi' } },
  expander: { replicas: 3, requests: { cpu: '680m', memory: '100Mi' } },
  tasks: { replicas: 2, requests: { cpu: '100m', memory: '90Mi' } },
  'expander-cache': { replicas: 1, requests: { cpu: '300m', memory: '64Mi' } },
  'tasks-store': { replicas: 1, requests: { cpu: '10m', memory: '20Mi' } },
};

const sizes = (objects: Node[]) =>
  Object.fromEntries(
    objects
      .filter(({ kind, metadata }) => /^(Deployment|StatefulSet)$/.test(kind) && metadata.name in requested)
      .map(({ metadata, spec }) => [
        metadata.name,
        {
          ...(spec.replicas !== undefined && { replicas: spec.replicas }),
          requests: spec.template.spec.containers[0].resources.requests,
        },
      ]),
  );

test('each target, container and field of the patch is there in deploy/kubernetes', () => {
  const objects: Node[] = readdirSync(base)
    .map((file) => join(base, file))
    .concat(join(kubernetes, 'components/autoscaling/autoscaling.yaml'))
    .flatMap((file) => parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS()));
  const { replicas, patches } = parse(patch);
  for (const { name } of replicas) {
    expect(
      objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name),
      name,
    ).toBeDefined();
  }
  for (const { target, patch } of patches) {
    const object = objects.find(
      ({ kind, metadata }) => kind === target.kind && metadata.name === target.name,
    );
    for (const { op, path, value } of parse(patch)) {
      const found = path
        .slice(1)
        .split('/')
        .reduce((node: Node, key: string) => node?.[key], object);
      expect(found, `${target.kind} ${target.name} ${path}`).toBeDefined();
      if (op === 'test') expect(found).toBe(value);
    }
  }
});

const kubectl = spawnSync('kubectl', ['kustomize', '--help']).status === 0;
describe.skipIf(!kubectl)(
  `kustomize${kubectl ? '' : ' (skipped: there is no kubectl on this machine)'}`,
  () => {
    function rendered(overlay: string, text: string): Node[] {
      const folder = mkdtempSync(join(tmpdir(), 'longhand-size-'));
      try {
        const resources = `resources: [${relative(folder, join(kubernetes, 'overlays', overlay))}]\n`;
        writeFileSync(join(folder, 'kustomization.yaml'), resources + text);
        const output = execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' });
        return parseAllDocuments(output).map((document) => document.toJS());
      } finally {
        rmSync(folder, { recursive: true });
      }
    }

    test('makes each part as large as it should be', () => {
      expect(sizes(rendered('local', patch))).toEqual(requested);
    });

    test('leaves replicas to the autoscaler, which then counts with the new requests', () => {
      const objects = rendered('production', patch.slice(patch.indexOf('patches:')));
      expect(sizes(objects).expander).toEqual({ requests: requested.expander.requests });
      const scaler = objects.find(
        ({ kind, metadata }) => kind === 'HorizontalPodAutoscaler' && metadata.name === 'expander',
      );
      expect(scaler.spec.maxReplicas).toBe(6);
      expect(scaler.spec.metrics[0].containerResource.target.averageUtilization).toBe(100);
    });
  },
);
