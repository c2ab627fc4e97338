import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { addShortener, forbidShortener, kubectl, scale } from './testing/kubectl.ts';
import { ask, expectPanels, expectRuled } from './testing/visits.ts';

// The component `observe` in a cluster without the Prometheus operator: what the PodMonitors say is given to a Prometheus of
// this machine, as the operator would; kubectl says which pods there are.

const run = promisify(execFile);
const deploy = join(import.meta.dirname, '../deploy');
const urls = {
  proxy: 'http://127.0.0.1:30080',
  expander: 'http://127.0.0.1:30081',
  tasks: 'http://127.0.0.1:30082',
};

// biome-ignore lint/suspicious/noExplicitAny: what YAML and JSON hold
type Node = any;

const link = 'http://shortener.longhand.svc.cluster.local:9000/chain/2';

const folder = mkdtempSync(join(tmpdir(), 'longhand-observe-'));
const overlay = mkdtempSync(join(deploy, 'kubernetes', 'overlays', 'test-'));
const stopped: (() => unknown)[] = [];
let prometheus: string;

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const label = (name: string) => `__meta_kubernetes_pod_label_${name.replace(/\W/g, '_')}`;
const relabelling = (rules: Node[] = []) =>
  rules.map((rule) => Object.fromEntries(Object.entries(rule).map(([name, value]) => [snake(name), value])));

/** The jobs that the operator makes of a PodMonitor. */
function jobs({ metadata, spec }: Node): Node[] {
  return spec.podMetricsEndpoints.map((endpoint: Node, i: number) => ({
    job_name: `podMonitor/longhand/${metadata.name}/${i}`,
    metrics_path: endpoint.path,
    params: endpoint.params,
    file_sd_configs: [{ files: [join(folder, 'pods.json')], refresh_interval: '1s' }],
    relabel_configs: [
      ...Object.entries(spec.selector.matchLabels).map(([key, value]) => ({
        source_labels: [label(key)],
        regex: value,
        action: 'keep',
      })),
      {
        source_labels: ['__meta_kubernetes_pod_container_port_name'],
        regex: endpoint.port,
        action: 'keep',
      },
      { source_labels: [label(spec.jobLabel)], target_label: 'job' },
      ...relabelling(endpoint.relabelings),
    ],
    metric_relabel_configs: relabelling(endpoint.metricRelabelings),
  }));
}

/** Every port of every pod, with the labels that Prometheus gives it in a cluster. */
async function writeTargets(): Promise<void> {
  const { items } = JSON.parse(await kubectl('get', 'pods', '--output=json'));
  const targets = items
    .filter(({ status }: Node) => status.phase === 'Running' && status.podIP)
    .flatMap(({ metadata, spec, status }: Node) =>
      spec.containers.flatMap(({ ports = [] }: Node) =>
        ports.map(({ name, containerPort }: Node) => ({
          targets: [`${status.podIP}:${containerPort}`],
          labels: {
            ...Object.fromEntries(Object.entries(metadata.labels).map(([key, value]) => [label(key), value])),
            __meta_kubernetes_pod_name: metadata.name,
            __meta_kubernetes_pod_container_port_name: name,
          },
        })),
      ),
    );
  writeFileSync(join(folder, 'pods.json'), JSON.stringify(targets));
}

async function query(expression: string): Promise<Node[]> {
  const answer = await fetch(`${prometheus}/api/v1/query?${new URLSearchParams({ query: expression })}`);
  const { data, error } = (await answer.json()) as Node;
  if (error) throw new Error(`${expression}: ${error}`);
  return data.result;
}

beforeAll(async () => {
  const image = (await run(join(deploy, 'images/build.sh'), ['exporters'])).stdout.trim();
  const { KUBERNETES_LOAD } = process.env;
  if (KUBERNETES_LOAD) await run('sh', ['-c', `${KUBERNETES_LOAD} ${image}`]);
  await addShortener();
  writeFileSync(
    join(overlay, 'kustomization.yaml'),
    stringify({ namespace: 'longhand', resources: ['../load'], components: ['../../components/observe'] }),
  );
  const rendered = (await run('kubectl', ['kustomize', overlay], { maxBuffer: 2 ** 26 })).stdout;
  const objects = parseAllDocuments(rendered).map((document) => document.toJS());
  const forOperator = ({ apiVersion }: Node) => apiVersion.startsWith('monitoring.coreos.com');
  const ours = objects.filter((object) => !forOperator(object)).map((object) => stringify(object));
  execFileSync('kubectl', ['apply', '--filename=-'], { input: ours.join('---\n') });
  for (const workload of [
    'deployment/exporters',
    'statefulset/tasks-store',
    'deployment/tasks',
    'deployment/proxy',
  ])
    await kubectl('rollout', 'status', '--timeout=180s', workload);
  await scale(1, 'expander', 'tasks');

  const { port } = await freePorts('port');
  prometheus = `http://127.0.0.1:${port}`;
  const monitors = objects.filter(({ kind }) => kind === 'PodMonitor');
  const configuration = {
    global: { scrape_interval: '1s' },
    scrape_configs: monitors.flatMap(jobs),
  };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(configuration));
  await writeTargets();
  const targets = setInterval(() => writeTargets().catch(() => {}), 1_000);
  const load = setInterval(() => ask(urls, link).catch(() => {}), 200);
  const server = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  stopped.push(
    () => clearInterval(targets),
    () => clearInterval(load),
    async () => {
      server.kill();
      await once(server, 'exit');
    },
  );
});

afterAll(async () => {
  for (const stop of stopped) await stop();
  rmSync(folder, { recursive: true });
  rmSync(overlay, { recursive: true });
  await kubectl('delete', 'deployment/exporters', 'service/exporters');
  await forbidShortener();
  await scale(2, 'expander', 'tasks');
});

test('every part is scraped under the job that the rules select', async () => {
  const up = async () => (await query('up == 1')).map(({ metric }) => metric.job).toSorted();
  await expect.poll(up).toEqual(['disk', 'expander', 'proxy', 'redis', 'redis', 'tasks']);
});

test('under load no panel is empty, and no rule without its series', async () => {
  await expectPanels('service.json', query);
  await expectRuled(query);
});
