import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { service } from './native/processes.ts';

// The two descriptions of the stack, docker-compose.yml and deploy/kubernetes. What they must have in common is compared
// here, so that a change of one that the other needs is noticed.

const root = join(import.meta.dirname, '..');
const kubernetes = join(import.meta.dirname, 'kubernetes');

// biome-ignore lint/suspicious/noExplicitAny: what YAML holds
type Node = any;

const read = (file: string): Node => parse(readFileSync(join(root, file), 'utf8'), { merge: true });
const compose = read('docker-compose.yml');

/** kustomize, alone or as part of kubectl. */
const kustomize = [
  ['kubectl', 'kustomize'],
  ['kustomize', 'build'],
].find(([program = '', command = '']) => spawnSync(program, [command, '--help']).status === 0);
const without = kustomize ? '' : ' (skipped: there is neither kubectl nor kustomize on this machine)';

/** The objects that kustomize makes of a folder. */
function rendered(folder: string): Node[] {
  const [program = '', command = ''] = kustomize ?? [];
  const text = execFileSync(program, [command, folder], { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 });
  return parseAllDocuments(text).map((document) => document.toJS());
}

const services = ['proxy', 'expander', 'tasks', 'expander-cache', 'tasks-store'];
const overlays = readdirSync(join(kubernetes, 'overlays'));
const objects: Record<string, Node[]> = kustomize
  ? Object.fromEntries(overlays.map((name) => [name, rendered(join(kubernetes, 'overlays', name))]))
  : {};
const named = (kind: string, name: string): Node =>
  objects.local?.find((object) => object.kind === kind && object.metadata.name === name);
const podOf = (object: Node): Node =>
  object.kind === 'Pod' ? object : (object.spec.jobTemplate ?? object).spec.template;
const workloads = (list: Node[]): Node[] =>
  list.filter(({ kind }) => ['Deployment', 'StatefulSet', 'CronJob', 'Pod'].includes(kind));
const podsOf = (name: string): Node => podOf(named('Deployment', name) ?? named('StatefulSet', name)).spec;

/** What a service is in both. */
function described(name: string) {
  const pod = podsOf(name);
  const [container] = pod.containers;
  const env = Object.fromEntries(container.env?.map(({ name, value }: Node) => [name, value]) ?? []);
  const bytes = (text: string) => Number.parseInt(text, 10) * 1024 ** 2;
  const redisOf = (image?: string) => /^redis:.*/.exec(image ?? '')?.[0];
  const shared = (environment: Node) =>
    Object.fromEntries(
      ['REDIS_URL', 'REDIS_PASSWORD_FILE', 'NODE_OPTIONS'].map((key) => [key, environment?.[key]]),
    );
  const inCompose = compose.services[name];
  return {
    compose: {
      user: inCompose.user,
      memory: bytes(inCompose.mem_limit),
      env: shared(inCompose.environment),
      redis: redisOf(inCompose.image),
      command: inCompose.command,
    },
    kubernetes: {
      user: `${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}`,
      memory: bytes(container.resources.limits.memory),
      env: shared(env),
      redis: redisOf(container.image),
      command: container.command,
    },
  };
}

test('whoever starts the expander gives it threads for slow names, before Node starts', () => {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const [, image] = /^FROM service AS expander\n(?:.*\n)*?ENV (UV_.*)$/m.exec(dockerfile) ?? [];
  const { scripts } = read('expander/package.json');
  const start = `env -i PATH="$PATH" sh -c '${scripts.start.replace('node src/main.ts', 'env')}'`;
  const variables = Object.entries({ UV_THREADPOOL_SIZE: '128', RES_OPTIONS: 'timeout:1 attempts:2' });
  const { env } = service('expander', 'expander', 'expander-cache', '.');
  expect(image).toBe(variables.map(([name, value]) => `${name}=${value.replace(/.* .*/, '"$&"')}`).join(' '));
  const started = execFileSync('sh', ['-c', start], { encoding: 'utf8' }).split('\n');
  for (const [name, value] of variables) {
    expect(env?.[name]).toBe(value);
    expect(started).toContain(`${name}=${value}`);
  }
});

describe.skipIf(!kustomize)(`Kubernetes${without}`, () => {
  test.each(services)('%s is the same in compose and Kubernetes', (name) => {
    const { compose, kubernetes } = described(name);
    expect(kubernetes).toEqual(compose);
  });

  test('the configuration of each Redis is the file of its service', () => {
    const configured = (prefix: string) =>
      objects.local?.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith(prefix))
        .data;
    for (const [name, file] of [
      ['tasks-store', 'tasks/redis.conf'],
      ['expander-cache', 'expander/redis.conf'],
    ] as const) {
      expect(configured(name)['redis.conf']).toBe(readFileSync(join(root, file), 'utf8'));
    }
  });

  test('the production overlay trusts nobody who may be a pod', () => {
    const proxy = objects.production?.find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith('proxy'),
    );
    // TEST-NET-1 (RFC 5737), until it is changed.
    expect(proxy.data.LONGHAND_FRONT).toMatch(/^192\.0\.2\.\d+\/32$/);
  });

  describe.each(overlays)('overlay %s', (overlay) => {
    const all = () => objects[overlay] ?? [];

    test('every pod may run where `restricted` is enforced, which the namespace does', () => {
      const labels = all().find(({ kind }) => kind === 'Namespace').metadata.labels;
      expect(labels['pod-security.kubernetes.io/enforce']).toBe('restricted');
      for (const workload of workloads(all())) {
        const { spec } = podOf(workload);
        const name = workload.metadata.name;
        expect(spec.enableServiceLinks, name).toBe(false);
        expect(spec.automountServiceAccountToken, name).toBe(false);
        expect(spec.securityContext, name).toMatchObject({
          runAsNonRoot: true,
          runAsUser: expect.any(Number),
          seccompProfile: { type: 'RuntimeDefault' },
        });
        for (const container of spec.containers) {
          expect(container.securityContext, name).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
          expect(container.resources, name).toMatchObject({
            requests: { cpu: expect.any(String), memory: expect.any(String) },
            limits: { memory: expect.any(String) },
          });
          expect(container.image, name).toMatch(/:\d+\.\d+\.\d+$/);
          expect(container.imagePullPolicy, name).toBe('IfNotPresent');
        }
      }
    });

    test('no Service has the name of a variable of ours, and each leads to pods', () => {
      const labels = workloads(all()).map((workload) => podOf(workload).metadata.labels);
      for (const { metadata, spec } of all().filter(({ kind }) => kind === 'Service')) {
        expect(metadata.name).not.toMatch(/^longhand/);
        expect(labels).toContainEqual(expect.objectContaining(spec.selector));
      }
    });

    test('a rollout adds before it takes away, and what stops has left the balancers before', () => {
      for (const { metadata, spec } of all().filter(({ kind }) => kind === 'Deployment')) {
        expect(spec.strategy.rollingUpdate, metadata.name).toEqual({ maxSurge: 1, maxUnavailable: 0 });
        expect(spec.minReadySeconds, metadata.name).toBeGreaterThan(0);
        const { containers, terminationGracePeriodSeconds, topologySpreadConstraints } = spec.template.spec;
        const [{ lifecycle, startupProbe, readinessProbe, livenessProbe }] = containers;
        const drain = 10;
        expect(terminationGracePeriodSeconds).toBeGreaterThan(lifecycle.preStop.sleep.seconds + drain);
        for (const probe of [startupProbe, readinessProbe, livenessProbe])
          expect(probe.httpGet).toBeDefined();
        expect(topologySpreadConstraints[0].whenUnsatisfiable).toBe('ScheduleAnyway');
        const budget = all().find(
          (o) => o.kind === 'PodDisruptionBudget' && o.metadata.name === metadata.name,
        );
        expect(budget.spec).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
        const scaled = all().some(
          (o) => o.kind === 'HorizontalPodAutoscaler' && o.metadata.name === metadata.name,
        );
        expect(spec.replicas, metadata.name).toBe(scaled ? undefined : 2);
      }
    });

    test('nothing connects unless a policy says so, and only the expander leaves', () => {
      const policies = all().filter(({ kind }) => kind === 'NetworkPolicy');
      const deny = policies.find(({ metadata }) => metadata.name === 'default-deny');
      expect(deny.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
      const outside = policies.filter(({ spec }) =>
        spec.egress?.some(({ to }: Node) => to.some(({ ipBlock }: Node) => ipBlock?.cidr.endsWith('/0'))),
      );
      expect(outside.map(({ metadata }) => metadata.name)).toEqual(['expander']);
      const blocks = outside[0].spec.egress
        .flatMap(({ to }: Node) => to)
        .filter(({ ipBlock }: Node) => ipBlock);
      for (const { ipBlock } of blocks) expect(ipBlock.except.length).toBeGreaterThan(5);
    });
  });

  const components = readdirSync(join(kubernetes, 'components'));
  test.each(components)(
    'component %s fits onto the base, and so do all that are meant to be combined',
    (name) => {
      const combination = new Set([name, 'pod-monitor']);
      const text = execFileSync(
        'sh',
        [
          '-c',
          `folder=$(mktemp -d -p "$1") && trap 'rm -rf "$folder"' EXIT && cat >"$folder/kustomization.yaml" && ${kustomize?.join(' ')} "$folder"`,
          'sh',
          kubernetes,
        ],
        {
          input: `resources: [../base]\ncomponents: [${[...combination].map((c) => `../components/${c}`).join(', ')}]\n`,
          encoding: 'utf8',
        },
      );
      const kinds = new Set(parseAllDocuments(text).map((document) => document.toJS().kind));
      const expected: Record<string, string> = {
        autoscaling: 'HorizontalPodAutoscaler',
        gateway: 'HTTPRoute',
        ingress: 'Ingress',
        'pod-monitor': 'PodMonitor',
        shortener: 'Pod',
      };
      expect(kinds).toContain(expected[name]);
    },
  );

  test('a route has no time limit of the gateway', () => {
    const routes = objects.production?.filter(({ kind }) => kind === 'HTTPRoute') ?? [];
    expect(routes.map(({ metadata }) => metadata.name).toSorted()).toEqual(['expander', 'tasks']);
    for (const { spec } of routes) expect(spec.rules[0].timeouts).toEqual({ request: '0s' });
  });
});
