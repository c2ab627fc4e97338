import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { addressOf, signal, startComposeProject } from '@longhand/deploy/testing/compose-project.ts';
import { docker } from '@longhand/shared/testing/engine.ts';
import type { Behaviour } from './relay.ts';
import { until } from './until.ts';

export type Service = 'proxy' | 'expander' | 'expander-cache' | 'tasks' | 'tasks-store';
type RedisService = 'expander-cache' | 'tasks-store';

/** A stack in containers, and the means to disturb it. */
export type RehearsedStack = Awaited<ReturnType<typeof startContainers>>;

const services: Service[] = ['expander-cache', 'tasks-store', 'expander', 'tasks', 'proxy'];
/** The folder of nginx's caches, and that of the store's files, which `disk` has also while no Redis runs. */
const folders = { proxy: '/run', disk: '/data' };

/** Starts the stack on free ports, with two replicas of each service and a small disk for the store. */
export async function startContainers() {
  // Several rehearsals may run at once.
  const project = `longhand-rehearsal-${process.pid}`;
  const {
    urls,
    stop,
    compose,
    containers: replicas,
  } = await startComposeProject(project, {
    files: ['docker-compose.yml', join('loadtest', 'rehearsal', 'compose.yml')],
    before: ['disk'],
    scale: ['--scale', 'expander=2', '--scale', 'tasks=2'],
  });
  const first = async (service: string) => (await replicas(service))[0] ?? '';
  /** When containers of a service exited since `since`, and their codes. Times are milliseconds since 1970. */
  const exits = async (service: Service, since: number) => {
    const times = ['--since', `${since / 1_000}`, '--until', `${Date.now() / 1_000}`];
    const labels = [`project=${project}`, `service=${service}`];
    const filters = labels.flatMap((label) => ['--filter', `label=com.docker.compose.${label}`]);
    const format = '{{.TimeNano}} {{.Actor.Attributes.exitCode}}';
    const found = await docker('events', ...times, ...filters, '--filter', 'event=die', '--format', format);
    return [...found.matchAll(/(\d+) (\d+)/g)].map(([, at, code]) => ({ at: Number(at) / 1e6, code }));
  };
  const leave = (network: string, container: string) =>
    docker('network', 'disconnect', `${project}_${network}`, container);
  const enter = (network: string, container: string, name: string) =>
    docker('network', 'connect', '--alias', name, `${project}_${network}`, container);
  return {
    urls,
    stop,
    shortener: 'http://shortener:9000',
    /** The shortener as another origin: a fault may use up its share of expansions. */
    otherShortener: `http://${await addressOf(await first('shortener'), `${project}_egress`)}:9000`,

    ...{ replicas, first, signal, exits },

    /** Asks a replica to stop, as the stack itself does, and waits until it has exited. */
    async terminate(service: Service, replica: string) {
      const start = Date.now();
      await signal(replica, service === 'proxy' ? 'QUIT' : 'TERM');
      const { at, code } = await until(async () => (await exits(service, start))[0], 30);
      return { code, seconds: (at - start) / 1_000 };
    },

    /** Resolves once every replica is healthy again. */
    async settled() {
      for (const replica of (await Promise.all(services.map(replicas))).flat()) {
        const health = () => docker('inspect', replica, '--format', '{{.State.Health.Status}}');
        await until(async () => (await health()) === 'healthy', 90);
      }
    },

    /** Runs a command of Redis. */
    redis: async (service: RedisService, ...command: string[]) =>
      docker('exec', await first(service), 'redis.sh', 'cli', ...command),

    /** Runs a shell script where the files are. */
    inside: async (where: keyof typeof folders, script: string) =>
      docker('exec', '--workdir', folders[where], await first(where), 'sh', '-c', script),

    /** What a service has logged since `since`, in milliseconds since 1970. */
    async log(service: Service, since: number) {
      const options = ['--no-log-prefix', '--since', new Date(since).toISOString()];
      return (await compose('--ansi', 'never', 'logs', ...options, service)).split('\n');
    },

    /** Puts a relay between a Redis and its service. Resolves with what removes it. */
    async relay(service: RedisService, behaviour: Behaviour) {
      const network = `to-${service}`;
      const redis = await first(service);
      const name = `${project}-relay`;
      const options = { port: 6379, to: { host: `${service}-behind`, port: 6379 }, behaviour };
      const [image = ''] = (await compose('images', '--quiet', 'expander')).split('\n');
      await docker(
        ...['run', '--detach', '--rm', '--name', name, '--network', `${project}_${network}`],
        ...['--network-alias', service, '--volume', `${join(import.meta.dirname, 'relay.ts')}:/relay.ts:ro`],
        ...[image, 'node', '/relay.ts', JSON.stringify(options)],
      );
      await leave(network, redis);
      await enter(network, redis, `${service}-behind`);
      // Redis may get its old address back; then the old connections would bypass the relay.
      await docker('exec', redis, 'redis.sh', 'cli', 'CLIENT', 'KILL', 'TYPE', 'normal');
      return async () => {
        const connections = await docker('logs', name);
        await leave(network, redis);
        await enter(network, redis, service);
        await docker('rm', '--force', name);
        if (!connections.includes('connected'))
          throw new Error(`nothing connected to the relay before ${service}`);
      };
    },

    /** Takes a replica off the network that it shares with the proxy. Resolves with what brings it back. */
    async cutOff(service: 'expander' | 'tasks', replica: string) {
      await leave(`to-${service}`, replica);
      return () => enter(`to-${service}`, replica, service);
    },

    /** Drops the proxy's DNS queries. Resolves with what ends that. */
    async loseNames() {
      const pid = await docker('inspect', await first('proxy'), '--format', '{{.State.Pid}}');
      const rule = (action: string) =>
        promisify(execFile)('nsenter', [
          ...['-t', pid, '-n', 'iptables', action, 'OUTPUT', '-d', '127.0.0.11', '-j', 'DROP'],
        ]);
      await rule('-I');
      return () => rule('-D');
    },
  };
}
