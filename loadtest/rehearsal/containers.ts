import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  addressOf,
  composeProject,
  signal,
  startComposeProject,
} from '@longhand/deploy/testing/compose-project.ts';
import { docker } from '@longhand/shared/testing/engine.ts';
import type { RehearsedStack, Service } from './stack.ts';
import { until } from './until.ts';

const run = promisify(execFile);
const folders = { proxy: '/run', 'expander-cache': '/data', 'tasks-store': '/data' };
/** The network that only a Redis and its service share. */
const networks = { 'expander-cache': 'to-expander-cache', 'tasks-store': 'to-tasks-store' };

/** The stack of the compose project in `env`. */
async function control(
  env: NodeJS.ProcessEnv,
  urls: RehearsedStack['urls'],
  smallDisk: boolean,
  stop: () => Promise<void>,
): Promise<RehearsedStack> {
  const { compose, containers: replicas } = composeProject(env);
  const project: string = JSON.parse(await compose('config', '--format', 'json')).name;
  const only = async (service: Service) => (await replicas(service))[0] ?? '';
  /** When containers of a service have ended since `start`, and their exit codes. */
  const deaths = async (service: Service, start: number): Promise<[at: number, code: string][]> => {
    const times = ['--since', `${start / 1_000}`, '--until', `${Date.now() / 1_000}`];
    // One-off containers are those in which `inside` runs something.
    const labels = [`project=${project}`, `service=${service}`, 'oneoff=False'];
    const filters = labels.flatMap((label) => ['--filter', `label=com.docker.compose.${label}`]);
    const format = '{{.TimeNano}} {{.Actor.Attributes.exitCode}}';
    const found = await docker('events', ...times, ...filters, '--filter', 'event=die', '--format', format);
    return [...found.matchAll(/(\d+) (\d+)/g)].map(([, at, code = '']) => [Number(at) / 1e6, code]);
  };
  const [shortener = ''] = await replicas('shortener');
  return {
    kind: 'containers',
    urls,
    shortener: 'http://shortener:9000',
    otherShortener: `http://${await addressOf(shortener, `${project}_egress`)}:9000`,
    smallDisk,
    replicas,
    signal: (replica, name) => signal(replica, name.slice(3)),
    async terminate(service, replica) {
      const start = Date.now();
      await signal(replica, service === 'proxy' ? 'QUIT' : 'TERM');
      await until(async () => (await deaths(service, start)).length > 0, 30);
      const [[at = 0, code] = []] = await deaths(service, start);
      return { how: `code ${code}`, seconds: (at - start) / 1_000 };
    },
    exits: async (service, since) => (await deaths(service, since.getTime())).map(([at]) => at),
    async settled() {
      for (const service of ['expander-cache', 'tasks-store', 'expander', 'tasks', 'proxy'] as const) {
        for (const replica of await replicas(service)) {
          const health = () => docker('inspect', replica, '--format', '{{.State.Health.Status}}');
          await until(async () => (await health()) === 'healthy', 90);
        }
      }
    },
    async redis(service, ...command) {
      return docker('exec', await only(service), 'redis.sh', 'cli', ...command);
    },
    async inside(service, script) {
      // A store that cannot read its file is not there to run anything in.
      if (service === 'tasks-store')
        return compose('run', '--rm', '--no-deps', '-T', service, 'sh', '-c', script);
      return docker('exec', '--workdir', folders[service], await only(service), 'sh', '-c', script);
    },
    async relay(service, behaviour) {
      const network = `${project}_${networks[service]}`;
      const redis = await only(service);
      const name = `${project}-relay`;
      const options = {
        listen: { port: 6379 },
        to: { host: `${service}-behind`, port: 6379 },
        behaviour,
      };
      const [image = ''] = (await compose('images', '--quiet', 'expander')).split('\n');
      await docker('network', 'disconnect', network, redis);
      await docker('network', 'connect', '--alias', `${service}-behind`, network, redis);
      await docker(
        ...['run', '--detach', '--rm', '--name', name, '--network', network, '--network-alias', service],
        ...['--volume', `${join(import.meta.dirname, 'relay.ts')}:/relay.ts:ro`, image],
        ...['node', '/relay.ts', JSON.stringify(options)],
      );
      return async () => {
        await docker('rm', '--force', name);
        await docker('network', 'disconnect', network, redis);
        await docker('network', 'connect', '--alias', service, network, redis);
      };
    },
    async log(service, since) {
      const lines: string[] = [];
      for (const replica of await replicas(service)) {
        const { stdout, stderr } = await run('docker', ['logs', '--since', since.toISOString(), replica], {
          maxBuffer: 2 ** 28,
        });
        lines.push(...`${stdout}\n${stderr}`.split('\n'));
      }
      return lines;
    },
    async cutOff(service, replica) {
      const network = `${project}_to-${service}`;
      const before = await addressOf(replica, network);
      await docker('network', 'disconnect', network, replica);
      return async () => {
        await docker('network', 'connect', '--alias', service, network, replica);
        if ((await addressOf(replica, network)) === '') throw new Error(`${before} did not come back`);
      };
    },
    async loseNames() {
      const pid = await docker('inspect', await only('proxy'), '--format', '{{.State.Pid}}');
      const rule = (action: string) =>
        run('nsenter', ['-t', pid, '-n', 'iptables', action, 'OUTPUT', '-d', '127.0.0.11', '-j', 'DROP']);
      await rule('-I');
      return () => rule('-D');
    },
    stop,
  };
}

/** The stack that runs in containers, as COMPOSE_PROJECT_NAME names it; undefined if none does. */
export async function findContainers(urls: RehearsedStack['urls']): Promise<RehearsedStack | undefined> {
  const { containers } = composeProject();
  return (await containers('proxy')).length > 0
    ? control(process.env, urls, false, async () => {})
    : undefined;
}

/** Starts the stack in containers on free ports, with two replicas of each service and a small disk for the store. */
export async function startContainers(): Promise<RehearsedStack> {
  const { env, urls, stop } = await startComposeProject('longhand-rehearsal', {
    file: join('loadtest', 'rehearsal', 'compose.yml'),
    before: ['disk'],
    scale: ['--scale', 'expander=2', '--scale', 'tasks=2'],
  });
  return control(env, urls, true, stop);
}
