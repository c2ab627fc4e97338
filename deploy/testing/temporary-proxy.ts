import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnv } from '@longhand/shared/env.ts';
import { acceptsConnections } from '@longhand/shared/listen.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { configureProxy, type ProxyVariables, writePages } from '../native/configuration.ts';
import { logFile } from '../native/log.ts';
import { proxy, searchPath } from '../native/processes.ts';
import { type ProcessSpec, supervise } from '../native/supervisor.ts';
import { stackVariables } from '../variables.ts';

/** The upstream ports are closed. */
const defaultVariables: ProxyVariables = {
  ...readEnv(stackVariables, {}),
  LONGHAND_EXPANDER_SERVER: '127.0.0.1:1 max_fails=0',
  LONGHAND_TASKS_SERVER: '127.0.0.1:2 max_fails=0',
};

/** A test instance of nginx on 127.0.0.1. */
export interface TemporaryProxy {
  readonly ports: Readonly<Record<'all' | 'expander' | 'tasks', number>>;
  /** nginx's error and access logs so far. */
  readonly log: readonly string[];
  /** Process ID of nginx's master. */
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts nginx with the project's templates for tests and measurements, on free ports.
 *
 * @param variables override the defaults.
 * @param edit changes a rendered file before nginx reads it, for example to shorten timeouts.
 * @param image the Docker image to use instead of the installed nginx.
 */
export async function startTemporaryProxy(
  variables: ProxyVariables,
  edit: (text: string, file: string) => string = (text) => text,
  image?: string,
): Promise<TemporaryProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-proxy-'));
  const ports = await freePorts('all', 'expander', 'tasks');
  const ownPorts = {
    LONGHAND_PORT: ports.all,
    LONGHAND_EXPANDER_PORT: ports.expander,
    LONGHAND_TASKS_PORT: ports.tasks,
  };
  await writeConfiguration(join(folder, 'proxy'), { ...defaultVariables, ...ownPorts, ...variables }, edit);
  const errors: string[] = [];
  const accessLog = openSync(join(folder, logFile), 'a+');
  const requests: string[] = [];
  let incomplete = '';
  /** Reads only new lines, because the log can grow to several megabytes. */
  const read = () => {
    const lines = (incomplete + (stopped ? '' : readFileSync(accessLog, 'utf8'))).split('\n');
    incomplete = lines.pop() ?? '';
    requests.push(...lines);
    return [...errors, ...requests];
  };
  let stopped = false;
  const spec = proxy('127.0.0.1', ports.all);
  const nginx = await supervise(image === undefined ? spec : inContainer(spec, folder, image), {
    folder,
    env: { PATH: searchPath(process.env) },
    onLine: (_, line) => errors.push(line),
  });
  // The supervisor waits only for nginx's first port.
  for (const port of Object.values(ports)) {
    while (!(await acceptsConnections({ host: '127.0.0.1', port }))) await sleep(10);
  }
  return {
    ports,
    get log() {
      return read();
    },
    get pid() {
      return nginx.pid ?? 0;
    },
    async stop() {
      await nginx.stop();
      read();
      stopped = true;
      closeSync(accessLog);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Renders nginx's configuration and pages into a folder. `edit` changes each file of the configuration. */
async function writeConfiguration(
  folder: string,
  variables: ProxyVariables,
  edit: (text: string, file: string) => string,
) {
  await configureProxy(folder, ['127.0.0.1'], variables);
  await writePages(join(folder, 'pages'));
  const files = (await readdir(join(folder, 'conf.d'))).map((name) => join('conf.d', name));
  for (const name of ['nginx.conf', ...files]) {
    const path = join(folder, name);
    await writeFile(path, edit(await readFile(path, 'utf8'), name));
  }
}

/** Runs the process in a container with the host network and `folder`. */
function inContainer(spec: ProcessSpec, folder: string, image: string): ProcessSpec {
  const place = ['--network', 'host', '--volume', `${folder}:${folder}`, '--workdir', folder];
  return { ...spec, command: 'docker', args: ['run', '--rm', ...place, image, spec.command, ...spec.args] };
}
