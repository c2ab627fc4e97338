import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { docker } from '@longhand/shared/testing/engine.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import type { RehearsedStack, Service } from './stack.ts';
import { until } from './until.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
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
  const compose = async (...args: string[]) =>
    (await run('docker', ['compose', ...args], { cwd: root, env, maxBuffer: 2 ** 26 })).stdout.trim();
  const project: string = JSON.parse(await compose('config', '--format', 'json')).name;
  const replicas = async (service: Service) =>
    (await compose('ps', '--quiet', service)).split('\n').filter(Boolean).toSorted();
  const only = async (service: Service) => (await replicas(service))[0] ?? '';
  const labelled = (service: Service) => [
    ...['--filter', `label=com.docker.compose.project=${project}`],
    ...['--filter', `label=com.docker.compose.service=${service}`],
    // Not those in which `inside` runs something.
    ...['--filter', 'label=com.docker.compose.oneoff=False'],
  ];
  /** The program is the child of the init. A signal to the init would count as a wish to stop the container. */
  const signal = async (replica: string, name: string) => {
    const kill = `kill -${name.slice(3)} $(cat /proc/1/task/1/children)`;
    await docker('exec', replica, 'sh', '-c', kill).catch(() => {});
  };
  /** When containers of a service have ended since `start`, and their exit codes. */
  const deaths = async (service: Service, start: number): Promise<[at: number, code: string][]> => {
    const times = ['--since', `${start / 1_000}`, '--until', `${Date.now() / 1_000}`];
    const format = '{{.TimeNano}} {{.Actor.Attributes.exitCode}}';
    const found = await docker(
      'events',
      ...times,
      ...labelled(service),
      '--filter',
      'event=die',
      '--format',
      format,
    );
    return found
      .split('\n')
      .filter(Boolean)
      .map((line) => [Number(line.split(' ')[0]) / 1e6, line.split(' ')[1] ?? '']);
  };
  const address = (replica: string, network: string) =>
    docker('inspect', replica, '--format', `{{(index .NetworkSettings.Networks "${network}").IPAddress}}`);

  const shortener = await compose('ps', '--quiet', 'shortener');
  return {
    kind: 'containers',
    urls,
    shortener: 'http://shortener:9000',
    otherShortener: `http://${await address(shortener, `${project}_egress`)}:9000`,
    smallDisk,
    replicas,
    signal,
    async terminate(service, replica) {
      const start = Date.now();
      await signal(replica, service === 'proxy' ? 'SIGQUIT' : 'SIGTERM');
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
      const before = await address(replica, network);
      await docker('network', 'disconnect', network, replica);
      return async () => {
        await docker('network', 'connect', '--alias', service, network, replica);
        if ((await address(replica, network)) === '') throw new Error(`${before} did not come back`);
      };
    },
    async loseNames() {
      const pid = await docker('inspect', await only('proxy'), '--format', '{{.State.Pid}}');
      const rule = (action: string) =>
        run('nsenter', ['-t', pid, '-n', 'iptables', action, 'OUTPUT', '-d', '127.0.0.11', '-j', 'DROP']);
      await rule('-I');
      return async () => {
        await rule('-D');
      };
    },
    stop,
  };
}

/** The stack that runs in containers, as COMPOSE_PROJECT_NAME names it; undefined if none does. */
export async function findContainers(urls: RehearsedStack['urls']): Promise<RehearsedStack | undefined> {
  const { stdout } = await run('docker', ['compose', 'ps', '--quiet', 'proxy'], { cwd: root });
  if (stdout.trim() === '') return undefined;
  return control(process.env, urls, false, async () => {});
}

/** Starts the stack in containers on free ports, with two replicas of each service and a small disk for the store. */
export async function startContainers(): Promise<RehearsedStack> {
  const project = 'longhand-rehearsal';
  const ports = await freePorts('LONGHAND_PORT', 'LONGHAND_EXPANDER_PORT', 'LONGHAND_TASKS_PORT');
  const { LONGHAND_REHEARSAL, ...inherited } = process.env;
  const env: NodeJS.ProcessEnv = {
    ...inherited,
    COMPOSE_PROJECT_NAME: project,
    COMPOSE_FILE: `docker-compose.yml:${join('loadtest', 'rehearsal', 'compose.yml')}`,
    ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, `${port}`])),
  };
  const compose = (...args: string[]) => run('docker', ['compose', ...args], { cwd: root, env });
  const stop = async () => {
    await compose('--profile', 'load', 'down', '--volumes', '--timeout', '5');
    const images = ['proxy', 'expander', 'tasks', 'shortener'].map((target) => `${project}-${target}`);
    await docker('image', 'rm', '--force', ...images);
  };
  try {
    await compose('up', '--build', '--wait', 'shortener', 'disk');
    const shortener = (await compose('ps', '--quiet', 'shortener')).stdout.trim();
    const network = `(index .NetworkSettings.Networks "${project}_egress")`;
    env.EXPANDER_ALLOWED_NETWORKS = await docker(
      'inspect',
      shortener,
      '--format',
      `{{${network}.IPAddress}}/32`,
    );
    await compose('up', '--build', '--wait', '--scale', 'expander=2', '--scale', 'tasks=2', 'proxy');
  } catch (error) {
    await stop();
    throw error;
  }
  const url = (port: number) => `http://127.0.0.1:${port}`;
  const urls = {
    proxy: url(ports.LONGHAND_PORT),
    expander: url(ports.LONGHAND_EXPANDER_PORT),
    tasks: url(ports.LONGHAND_TASKS_PORT),
  };
  return control(env, urls, true, stop);
}
