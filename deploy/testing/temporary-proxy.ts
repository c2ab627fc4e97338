import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptsConnections } from '@longhand/shared/listen.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { configureProxy, type ProxyVariables } from '../native/configuration.ts';
import { forEachLine } from '../native/lines.ts';
import { logs } from '../native/log-files.ts';
import { proxy } from '../native/processes.ts';
import { searchPath } from '../native/search-path.ts';
import { type ProcessSpec, supervise } from '../native/supervisor.ts';

const defaultProxyVariables: ProxyVariables = {
  LONGHAND_LISTEN: '127.0.0.1',
  LONGHAND_PORT: '8080',
  LONGHAND_EXPANDER_PORT: '8081',
  LONGHAND_TASKS_PORT: '8082',
  LONGHAND_API_RATE: '1000r/s',
  LONGHAND_EXPANDER_NAME: '',
  LONGHAND_TASKS_NAME: '',
  LONGHAND_FRONT: '',
  LONGHAND_WORKERS: '',
  LONGHAND_EXPANDER_SERVER: '127.0.0.1:1 max_fails=0',
  LONGHAND_TASKS_SERVER: '127.0.0.1:2 max_fails=0',
};

/** nginx without the applications, on 127.0.0.1. */
export interface TemporaryProxy {
  readonly ports: Readonly<Record<'all' | 'expander' | 'tasks', number>>;
  /** What nginx has written so far, to standard output and standard error. */
  readonly log: readonly string[];
  /** The process id of nginx's master. */
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts nginx with the project's templates for tests and measurements, on free ports.
 *
 * @param variables override `defaultProxyVariables`.
 * @param edit changes a rendered file before nginx reads it, for example to shorten timeouts.
 * @param image an image of Docker whose nginx runs instead of the machine's own.
 */
export async function startTemporaryProxy(
  variables: Partial<ProxyVariables>,
  edit: (text: string, file: string) => string = (text) => text,
  image?: string,
): Promise<TemporaryProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-proxy-'));
  const ports = await freePorts('all', 'expander', 'tasks');
  const prefix = join(folder, 'proxy');
  await configureProxy(prefix, {
    ...defaultProxyVariables,
    LONGHAND_PORT: `${ports.all}`,
    LONGHAND_EXPANDER_PORT: `${ports.expander}`,
    LONGHAND_TASKS_PORT: `${ports.tasks}`,
    ...variables,
  });
  const files = (await readdir(join(prefix, 'conf.d'))).map((name) => join('conf.d', name));
  for (const name of ['nginx.conf', ...files]) {
    const path = join(prefix, name);
    await writeFile(path, edit(await readFile(path, 'utf8'), name));
  }
  const log: string[] = [];
  const accessLog = join(folder, 'log', logs.access);
  await mkdir(join(folder, 'log'));
  await writeFile(accessLog, '');
  const tail = spawn('tail', ['-n', '+1', '-F', accessLog], { stdio: ['ignore', 'pipe', 'ignore'] });
  let seen = 0;
  forEachLine(tail.stdout, (line) => {
    seen += 1;
    log.push(line);
  });
  const spec = proxy({ host: '127.0.0.1', port: ports.all });
  const nginx = await supervise(image === undefined ? spec : inContainer(spec, folder, image), {
    folder,
    env: { PATH: searchPath(process.env) },
    onLine: (_, line) => log.push(line),
  });
  // nginx opens one port after the other, and the supervisor waits for the first.
  for (const port of Object.values(ports)) {
    while (!(await acceptsConnections({ host: '127.0.0.1', port }))) await sleep(10);
  }
  return {
    ports,
    log,
    get pid() {
      return nginx.pid ?? 0;
    },
    async stop() {
      await nginx.stop();
      tail.kill();
      await once(tail, 'close');
      log.push(...(await readFile(accessLog, 'utf8')).split('\n').slice(seen, -1));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The same process in a container, which has the machine's network and nothing of it but `folder`. */
function inContainer(spec: ProcessSpec, folder: string, image: string): ProcessSpec {
  const place = ['--network', 'host', '--volume', `${folder}:${folder}`, '--workdir', folder];
  return { ...spec, command: 'docker', args: ['run', '--rm', ...place, image, spec.command, ...spec.args] };
}
