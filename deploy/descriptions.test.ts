import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasEngine } from '@longhand/shared/testing/engine.ts';
import { testFolder } from '@longhand/shared/testing/text-file.ts';
import { describeUnless, testUnless } from '@longhand/shared/testing/unless.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { releasedStack } from './release/compose.ts';

// Compares the two descriptions of the stack, docker-compose.yml and deploy/kubernetes, so that they do not diverge.

const root = join(import.meta.dirname, '..');
const kubernetes = join(import.meta.dirname, 'kubernetes');

// biome-ignore lint/suspicious/noExplicitAny: YAML is untyped
type Node = any;

const read = (file: string): Node => parse(readFileSync(join(root, file), 'utf8'), { merge: true });
const compose = read('docker-compose.yml');
const [, redis] = /^FROM (redis:\S+)/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];

/** The kustomize command, standalone or built into kubectl. */
const kustomize = [
  ['kubectl', 'kustomize'],
  ['kustomize', 'build'],
].find(([program = '', command = '']) => spawnSync(program, [command, '--help']).status === 0);
const withoutKustomize = !kustomize && 'needs kubectl or kustomize';

/** Returns kustomize's output for a folder. */
function render(folder: string): string {
  const [program = '', command = ''] = kustomize ?? [];
  return execFileSync(program, [command, folder], { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 });
}
const parsed = (text: string): Node[] => parseAllDocuments(text).map((document) => document.toJS());

const services = ['proxy', 'expander', 'tasks', 'expander-cache', 'tasks-store'];
/** Services without a counterpart in Kubernetes. */
const composeOnly = ['settings', 'tls', 'backup', 'drill', 'exporters', 'prometheus', 'alertmanager'];
const overlays = readdirSync(join(kubernetes, 'overlays'));
const rendered: Record<string, string> = kustomize
  ? Object.fromEntries(overlays.map((name) => [name, render(join(kubernetes, 'overlays', name))]))
  : {};
const objects = Object.fromEntries(Object.entries(rendered).map(([name, text]) => [name, parsed(text)]));
const named = (kind: string, name: string): Node =>
  objects.local?.find((object) => object.kind === kind && object.metadata.name === name);
const podOf = (object: Node): Node =>
  object.kind === 'Pod' ? object : (object.spec.jobTemplate ?? object).spec.template;
const workloads = (list: Node[]): Node[] =>
  list.filter(({ kind }) => ['Deployment', 'StatefulSet', 'CronJob', 'Pod'].includes(kind));
const podsOf = (name: string): Node => podOf(named('Deployment', name) ?? named('StatefulSet', name)).spec;

const noEngine = !(await hasEngine()) && 'needs a Docker engine';
const noCompose = spawnSync('docker', ['compose', 'version']).status !== 0 && 'needs docker compose';
const configured = (env: NodeJS.ProcessEnv): Node => {
  const options = { cwd: root, env: { ...process.env, ...env }, encoding: 'utf8' } as const;
  return JSON.parse(execFileSync('docker', ['compose', 'config', '--format', 'json'], options));
};

testUnless(noCompose)('the settings check gets every setting that is exported', () => {
  const names = Object.keys(compose['x-settings']);
  // Compose itself refuses a bad port or address.
  const given = Object.fromEntries(
    names.map((name) => [name, name.endsWith('_PORT') ? '1234' : '127.0.0.9']),
  );
  const { environment } = configured(given).services.settings;
  const paths = Object.keys(environment).filter((name) => `${environment[name]}`.startsWith('/run/secrets/'));
  expect(paths.toSorted()).toEqual(names.filter((name) => /_FILE$|_CERTIFICATES$/.test(name)).toSorted());
  for (const path of paths) given[path] = environment[path];
  expect(environment).toEqual({ ...given, NODE_OPTIONS: '' });
});

testUnless(noCompose)('compose connects tasks only to internal networks', () => {
  const { services, networks } = configured({});
  const links = ['to-expander', 'to-expander-cache', 'to-tasks', 'to-tasks-store'];
  expect(Object.keys(networks).toSorted()).toEqual(['egress', 'front', ...links]);
  expect(Object.keys(services.tasks.networks).filter((name) => !networks[name].internal)).toEqual([]);
});

testUnless(noCompose)('TASKS_REDIS_URL and TASKS_REDIS_CA_FILE connect tasks to an external store', () => {
  const REDIS_URL = 'rediss://user:password@redis.example:6380/0';
  const { services, secrets } = configured({ TASKS_REDIS_URL: REDIS_URL, TASKS_REDIS_CA_FILE: '/ca.crt' });
  const REDIS_CA_FILE = '/run/secrets/tasks-redis-ca';
  expect(services.tasks.environment).toMatchObject({ REDIS_URL, REDIS_CA_FILE });
  expect(services.tasks.secrets).toContainEqual(expect.objectContaining({ source: 'tasks-redis-ca' }));
  expect(secrets['tasks-redis-ca'].file).toBe('/ca.crt');
  expect(services.expander.environment.REDIS_CA_FILE).toBe('');
  expect(Object.keys(services.tasks.networks)).toEqual(['to-tasks', 'to-tasks-store-outside']);
});

testUnless(noEngine)(
  'make down removes the network to an external store even if TASKS_REDIS_URL is unset',
  () => {
    const env = { ...process.env, COMPOSE_PROJECT_NAME: `longhand-test-${randomBytes(4).toString('hex')}` };
    const networks = (...words: string[]) =>
      execFileSync('docker', ['network', ...words], { env, encoding: 'utf8' }).trim();
    const labels = [`project=${env.COMPOSE_PROJECT_NAME}`, 'network=to-tasks-store-outside'].flatMap(
      (label) => ['--label', `com.docker.compose.${label}`],
    );
    const name = `${env.COMPOSE_PROJECT_NAME}_to-tasks-store-outside`;
    networks('create', ...labels, name);
    execFileSync('make', ['down'], { cwd: root, env, stdio: 'ignore' });
    expect(networks('ls', '--quiet', '--filter', `name=${name}`)).toBe('');
  },
);

test("the exporters check the published port's certificate", () => {
  const visited = Object.keys(compose.services).filter((name) =>
    compose.services[name].ports?.some((port: string) => port.endsWith(':8443')),
  );
  const script = readFileSync(join(root, 'deploy/observe/exporters.sh'), 'utf8');
  expect(visited.map((name) => `${name}:8443`)).toEqual(script.match(/\w+:8443/g));
});

test("a release's compose.yaml runs the same services without a checkout", () => {
  const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  const released: Node = releasedStack(text, (target) => `registry.example/${target}@sha256:0`);
  for (const part of Object.keys(compose).filter((key) => !/^(x-|services)/.test(key)))
    expect([part, released[part]]).toEqual([part, compose[part]]);
  expect(Object.keys(released.services).toSorted()).toEqual([...services, ...composeOnly].toSorted());
  for (const name of [...services, ...composeOnly]) {
    const { build, depends_on, profiles, ...same } = compose.services[name];
    const image = `registry.example/${build.target}@sha256:0`;
    expect(released.services[name]).toMatchObject({ ...same, image });
    // A release runs the backup without a profile.
    expect(released.services[name].profiles).toEqual(name === 'backup' ? undefined : profiles);
  }
  expect(JSON.stringify(released).replace('"./backups:', '')).not.toMatch(/"(build|bind)"|"\.\//);
  for (const { depends_on = {} } of Object.values<Node>(released.services))
    expect(Object.keys(released.services)).toEqual(expect.arrayContaining(Object.keys(depends_on)));
});

testUnless(withoutKustomize)('make kubernetes deploys released images without building them', () => {
  const folder = testFolder();
  const program = (name: string, script: string) =>
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}`, { mode: 0o755 });
  program('docker', 'echo "docker $*" >&2; exit 1');
  writeFileSync(join(folder, 'local.yaml'), `${rendered.local}`);
  program('kubectl', `case $1 in kustomize) cat ${folder}/local.yaml ;; apply) cat ;; esac`);
  const env = {
    PATH: `${folder}:${process.env.PATH}`,
    LONGHAND_REGISTRY: 'registry.example/longhand',
    LONGHAND_VERSION: '1.2.3',
  };
  const applied = execFileSync(join(kubernetes, 'up.sh'), { env, encoding: 'utf8' });
  expect(new Set([...applied.matchAll(/image: (.*)/g)].map(([, image]) => image))).toEqual(
    new Set([
      ...['expander', 'proxy', 'tasks'].map((name) => `registry.example/longhand/${name}:1.2.3`),
      redis,
    ]),
  );
});

describeUnless(withoutKustomize)('Kubernetes', () => {
  test.each(services)('%s has the same settings in compose and Kubernetes', (name) => {
    const { user, mem_limit, command, environment } = compose.services[name];
    const { containers, securityContext } = podsOf(name);
    const [{ env = [], image, resources, command: podCommand }] = containers;
    const megabytes = (text: string) => Number.parseInt(text, 10);
    expect(`${securityContext.runAsUser}:${securityContext.runAsGroup}`).toBe(user);
    expect(megabytes(resources.limits.memory)).toBe(megabytes(mem_limit));
    expect(podCommand).toEqual(command);
    if (command) expect(image).toBe(redis);
    for (const key of ['REDIS_URL', 'REDIS_PASSWORD_FILE', 'NODE_OPTIONS']) {
      const value = env.find((variable: Node) => variable.name === key)?.value;
      expect(value).toBe(environment?.[key]?.replace(/^\$\{\w+:-(.*)\}$/, '$1'));
    }
  });

  describe.each(overlays)('overlay %s', (overlay) => {
    const all = () => objects[overlay] ?? [];

    test('every pod meets the pod security standard `restricted`', () => {
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
        }
      }
    });

    test('only the expander can reach the internet', () => {
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

  /** Renders the base with components. */
  const withComponents = (...names: string[]) => {
    const folder = mkdtempSync(join(kubernetes, 'overlays', 'test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const components = names.map((name) => `../../components/${name}`);
    writeFileSync(
      join(folder, 'kustomization.yaml'),
      stringify({ resources: ['../../base'], components, namespace: 'longhand' }),
    );
    const all = parsed(render(folder));
    for (const container of workloads(all).flatMap((workload) => podOf(workload).spec.containers)) {
      expect(container.securityContext?.capabilities, container.name).toEqual({ drop: ['ALL'] });
      expect(container.image, container.name).toMatch(/:\d+\.\d+\.\d+$/);
    }
    return all;
  };

  test('the base can be combined with components', () => {
    const all = withComponents('gateway', 'ingress', 'observe', 'password');
    const expected = ['HTTPRoute', 'Ingress', 'PodMonitor', 'PrometheusRule'];
    expect(all.map(({ kind }) => kind)).toEqual(expect.arrayContaining(expected));
    const { spec } = podOf(all.find((o) => o.kind === 'Deployment' && o.metadata.name === 'tasks'));
    expect(spec.containers[0].env).toContainEqual({
      name: 'TASKS_PASSWORD_FILE',
      value: '/run/login/password',
    });
    // The file must be readable by the container's group.
    const secret = { secretName: 'tasks-login', defaultMode: 0o440 };
    expect(spec.volumes).toContainEqual({ name: 'login', secret });

    // Each port of the PodMonitor exists in a pod.
    const { selector, podMetricsEndpoints } = all.find(({ kind }) => kind === 'PodMonitor').spec;
    const [[label, value]] = Object.entries<string>(selector.matchLabels) as [[string, string]];
    const selected = workloads(all)
      .map(podOf)
      .filter(({ metadata }) => metadata.labels[label] === value);
    const ports = selected.flatMap(({ spec }) => spec.containers.flatMap(({ ports = [] }: Node) => ports));
    for (const { port } of podMetricsEndpoints) expect(ports.map(({ name }: Node) => name)).toContain(port);
  });

  test('`external-redis` replaces both Redis servers', () => {
    const all = withComponents('external-redis', 'observe');
    const pods = workloads(all).map(({ metadata }) => metadata.name);
    expect(pods.filter((name) => /cache|store|backup/.test(name))).toEqual([]);
    for (const name of ['expander', 'tasks']) {
      const { spec } = podOf(all.find((o) => o.kind === 'Deployment' && o.metadata.name === name));
      const valueFrom = { secretKeyRef: { name: 'redis', key: `${name}-url` } };
      expect(spec.containers[0].env).toContainEqual({ name: 'REDIS_URL', valueFrom });
    }
  });
});

test('the release job that can publish does not run code from the checkout', () => {
  const { build, publish } = read('.github/workflows/release.yml').jobs;
  expect(build.permissions).toEqual({ contents: 'read' });
  expect(JSON.stringify(build)).not.toContain('github.token');
  expect(publish.needs).toBe('build');
  expect(JSON.stringify(publish.steps)).not.toMatch(/checkout|make |npm (ci|install|run)/);
});
