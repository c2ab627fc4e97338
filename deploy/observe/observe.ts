import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { acceptsConnections } from '@longhand/shared/listen.ts';
import { logFile } from '../native/log.ts';
import { type ProcessContext, type ProcessSpec, supervise } from '../native/supervisor.ts';

export interface ObserveOptions extends Pick<ProcessContext, 'folder' | 'onLine'> {
  /** Prometheus's port on 127.0.0.1. */
  port: number;
  /** Interval of scrapes and rule evaluations (s). */
  interval?: number;
  /** Lets k6 write metrics. Web pages opened on this machine can then write metrics, too. */
  remoteWrite?: boolean;
}

/**
 * Observes a native stack with Debian's Prometheus and exporters: mtail for nginx's log, node_exporter for the disk. Prometheus
 * scrapes the replicas that run at startup, and keeps its data in the stack's folder `prometheus`.
 */
export async function observeStack(options: ObserveOptions) {
  const { folder, port, interval = 5, remoteWrite = false, onLine } = options;
  const settings = join(folder, 'observe');
  await using started = new AsyncDisposableStack();
  const replicas: Replicas = [];
  for (const socket of readdirSync(join(folder, 'run'))) {
    const [, instance, job] = /^((expander|tasks)(?:-\d+)?)-ops\.sock$/.exec(socket) ?? [];
    if (!instance || !job) continue;
    const port = await listening(started.use(toSocket(join(folder, 'run', socket))));
    replicas.push({ targets: [`127.0.0.1:${port}`], labels: { instance, job } });
  }
  const exporters = { proxy: await freePort(), disk: await freePort() };
  writeFileSync(join(settings, 'rules.yml'), rules());
  writeFileSync(
    join(settings, 'prometheus.yml'),
    prometheusConfiguration(folder, interval, replicas, exporters),
  );
  for (const spec of specs({ ...exporters, prometheus: port }, remoteWrite))
    started.defer((await supervise(spec, { folder, env: process.env, onLine })).stop);
  const running = started.move();
  return { url: `http://127.0.0.1:${port}`, stop: () => running.disposeAsync() };
}

/** Returns the PrometheusRule's `spec`, which is a Prometheus rules file. */
export const rules = () =>
  readFileSync(join(import.meta.dirname, 'rules.yaml'), 'utf8').replace(/^(?: {2}|.*\n)/gm, '');

/** Forwards TCP connections to a Unix socket, because Prometheus cannot scrape Unix sockets. */
const toSocket = (path: string) => createServer((tcp) => pipeline(tcp, connect(path), tcp, () => {}));

type Replicas = { targets: [string]; labels: { instance: string; job: string } }[];

/** Adapts prometheus.yml to a native stack: its replicas, its ports, and the mount point of the store's disk, without Alertmanager. */
function prometheusConfiguration(
  folder: string,
  interval: number,
  replicas: Replicas,
  ports: Record<string, number>,
) {
  const at = (name: string) => `127.0.0.1:${ports[name]}`;
  const { stdout } = spawnSync('df', ['--output=target', join(folder, 'tasks-store')], { encoding: 'utf8' });
  const disk = RegExp.escape(stdout.trim().split('\n')[1] ?? '');
  return readFileSync(join(import.meta.dirname, 'prometheus.yml'), 'utf8')
    .replace(/(?<=_interval: )5s/g, `${interval}s`)
    .replace(/dns_sd_configs: \[\{ names: \[(\w+)\].*/g, (_, job) => {
      return `static_configs: ${JSON.stringify(replicas.filter(({ labels }) => labels.job === job))}`;
    })
    .replace(/^alerting:\n.*\n/m, '')
    .replace('exporters:3903', at('proxy'))
    .replace('exporters:9100', at('disk'))
    .replace('/data', () => disk.replaceAll('\\', '\\\\'));
}

/** Paths are relative to the stack's folder, the working directory. */
function specs(ports: Record<'proxy' | 'disk' | 'prometheus', number>, remoteWrite: boolean): ProcessSpec[] {
  const at = (port: number) => `--web.listen-address=127.0.0.1:${port}`;
  const mtail = [
    `--progs=${join(import.meta.dirname, 'mtail')}`,
    `--logs=${logFile}`,
    '--emit_prog_label=false',
    '--logtostderr',
    ...['--address=127.0.0.1', `--port=${ports.proxy}`],
  ];
  const node = [
    '--collector.disable-defaults',
    '--collector.filesystem',
    // Export all disks. Prometheus drops the metrics of all disks except the store's.
    '--collector.filesystem.mount-points-exclude=^$',
    '--collector.filesystem.fs-types-exclude=^$',
  ];
  const prometheus = [
    '--config.file=observe/prometheus.yml',
    '--storage.tsdb.path=prometheus/data',
    '--storage.tsdb.retention.time=15d',
    ...(remoteWrite ? ['--web.enable-remote-write-receiver'] : []),
    '--log.level=warn',
  ];
  return [
    program('mtail', ports.proxy, mtail),
    program('prometheus-node-exporter', ports.disk, [...node, at(ports.disk)]),
    {
      ...program('prometheus', ports.prometheus, [...prometheus, at(ports.prometheus)]),
      // Prometheus returns 503 until it is ready.
      ready: () =>
        fetch(`http://127.0.0.1:${ports.prometheus}/-/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
    },
  ];
}

const program = (command: string, port: number, args: string[]): ProcessSpec => ({
  name: command,
  command,
  args,
  ready: () => acceptsConnections({ host: '127.0.0.1', port }),
  quietStart: true,
});

async function freePort(): Promise<number> {
  await using server = createServer();
  return await listening(server);
}

/** Listens on a free port of 127.0.0.1. @returns the port. */
async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
