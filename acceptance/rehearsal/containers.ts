import { exec } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { docker } from '@longhand/shared/testing/engine.ts';
import { expect, vi } from 'vitest';
import { addressOf, signal, startComposed } from '../testing/composed.ts';
import type { Behaviour } from './relay.ts';

const services = ['expander-cache', 'tasks-store', 'expander', 'tasks', 'proxy'] as const;
export type Service = (typeof services)[number];
type RedisService = 'expander-cache' | 'tasks-store';

export type RehearsedStack = Awaited<ReturnType<typeof startContainers>>;

export const pause = (seconds: number) => sleep(seconds * 1_000);

/** Returns functions that connect containers of a project to its networks. */
function networksOf(project: string) {
  return {
    connect: (network: string, container: string, name: string) =>
      docker('network', 'connect', '--alias', name, `${project}_${network}`, container),
    disconnect: (network: string, container: string) =>
      docker('network', 'disconnect', `${project}_${network}`, container),
  };
}

/** Returns the exit times (ms since 1970, like `since`) and exit codes of a service's containers. */
async function exitsOf(project: string, service: Service, since: number) {
  const times = [`--since=${since / 1_000}`, `--until=${Date.now() / 1_000}`];
  const labels = [`project=${project}`, `service=${service}`];
  const filters = labels.map((label) => `--filter=label=com.docker.compose.${label}`);
  const format = '--format={{.TimeNano}} {{.Actor.Attributes.exitCode}}';
  const found = await docker('events', ...times, ...filters, '--filter=event=die', format);
  return [...found.matchAll(/(\d+) (\d+)/g)].map(([, at, code]) => ({ at: Number(at) / 1e6, code }));
}

/** Starts a stack with two replicas of each service and a small disk for the store. Faults affect the first replica. */
export async function startContainers() {
  const { project, urls, shortener, stop, compose, containers } = await startComposed({
    files: ['docker-compose.yml', join('acceptance', 'rehearsal', 'compose.yml')],
    before: ['disk'],
    scale: ['--scale', 'expander=2', '--scale', 'tasks=2'],
  });
  const replicas = new Map<string, string[]>();
  for (const service of [...services, 'disk', 'shortener']) replicas.set(service, await containers(service));
  const first = (service: string) => replicas.get(service)?.[0] ?? '';
  const every = (some: readonly Service[], act: (replica: string, service: Service) => Promise<unknown>) =>
    Promise.all(some.map((service) => act(first(service), service)));
  const { connect, disconnect } = networksOf(project);
  const redis = (service: RedisService, ...command: string[]) =>
    docker('exec', first(service), 'redis.sh', 'cli', ...command);
  const exits = (service: Service, since: number) => exitsOf(project, service, since);
  /** Waits until the first replica of a service has exited. */
  const exited = (service: Service, since: number) =>
    vi.waitUntil(async () => (await exits(service, since))[0], 30_000);

  return {
    urls,
    stop,
    shortener,
    /** Another URL for the shortener, because a fault may exhaust the limits of the first origin. */
    otherShortener: `http://${await addressOf(first('shortener'), `${project}_egress`)}:9000`,

    redis,
    exits,
    replicas: (service: Service) => replicas.get(service)?.length ?? 0,

    /** Resolves once every replica is healthy. */
    async settled() {
      const all = services.flatMap((service) => replicas.get(service) ?? []);
      const health = () => docker('inspect', ...all, '--format', '{{.State.Health.Status}}');
      await expect.poll(health, { timeout: 90_000 }).toMatch(/^(healthy\s*)+$/);
    },

    /** Kills services. Resolves with the time of the last exit (ms since 1970). */
    async kill(...some: Service[]) {
      const start = Date.now();
      await every(some, (replica) => signal(replica, 'KILL'));
      const ended = await Promise.all(some.map((service) => exited(service, start)));
      return Math.max(...ended.map(({ at }) => at));
    },

    async hang(seconds: number, ...some: Service[]) {
      await every(some, (replica) => signal(replica, 'STOP'));
      await pause(seconds);
      await every(some, (replica) => signal(replica, 'CONT'));
    },

    /** Stops the first replica of a service. Resolves once it has exited. */
    async terminate(service: Service) {
      const start = Date.now();
      await signal(first(service), service === 'proxy' ? 'QUIT' : 'TERM');
      const { at, code } = await exited(service, start);
      return { service, code, seconds: (at - start) / 1_000 };
    },

    /** Runs a shell script in the folder that contains nginx's cache (`proxy`) or the store's files (`disk`). */
    inside: (where: 'proxy' | 'disk', script: string) =>
      docker('exec', '--workdir', where === 'proxy' ? '/run' : '/data', first(where), 'sh', '-c', script),

    /** Returns a service's log lines since `since` (ms since 1970). */
    async log(service: Service, since: number) {
      const options = ['--no-log-prefix', '--since', new Date(since).toISOString()];
      return (await compose('--ansi', 'never', 'logs', ...options, service)).split('\n');
    },

    /** Relays a service's Redis connections for `seconds`. Returns when the relay started and ended (ms since 1970). */
    async relay(service: RedisService, behaviour: Behaviour, seconds: number) {
      const network = `to-${service}`;
      const name = `${project}-relay`;
      const options = { host: `${service}-behind`, ...behaviour };
      const image = `${project}-expander`;
      await docker(
        ...['run', '--detach', '--rm', '--name', name, '--network', `${project}_${network}`],
        ...['--network-alias', service, '--volume', `${join(import.meta.dirname, 'relay.ts')}:/relay.ts:ro`],
        ...[image, 'node', '/relay.ts', JSON.stringify(options)],
      );
      await disconnect(network, first(service));
      await connect(network, first(service), `${service}-behind`);
      // Close old connections, which could bypass the relay.
      await redis(service, 'CLIENT', 'KILL', 'TYPE', 'normal');
      const from = Date.now();
      await pause(seconds);
      const to = Date.now();
      expect(await docker('logs', name)).toContain('connected');
      await disconnect(network, first(service));
      await connect(network, first(service), service);
      await docker('rm', '--force', name);
      return { from, to };
    },

    /** Disconnects services from the networks that they share with the proxy. */
    async cutOff(seconds: number, ...some: Service[]) {
      await every(some, (replica, service) => disconnect(`to-${service}`, replica));
      await pause(seconds);
      await every(some, (replica, service) => connect(`to-${service}`, replica, service));
    },

    /** Drops the proxy's DNS queries. */
    async loseNames(seconds: number) {
      const pid = await docker('inspect', first('proxy'), '--format', '{{.State.Pid}}');
      const rule = (action: string) => `nsenter -t ${pid} -n iptables ${action} OUTPUT -d 127.0.0.11 -j DROP`;
      await promisify(exec)(`${rule('-I')} && sleep ${seconds}; ${rule('-D')}`);
    },
  };
}
