import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnv } from '@longhand/shared/env.ts';
import { acceptsConnections } from '@longhand/shared/listen.ts';
import { freePorts } from '@longhand/shared/testing/free-port.ts';
import { configureProxy, type ProxyVariables, writePages } from '../native/configuration.ts';
import { logFile } from '../native/log.ts';
import { proxy, searchPath } from '../native/processes.ts';
import { type ProcessSpec, supervise } from '../native/supervisor.ts';
import { stackVariables } from '../variables.ts';

/** No application listens at these addresses. */
const defaultVariables: ProxyVariables = {
  ...readEnv(stackVariables, {}),
  LONGHAND_EXPANDER_SERVER: '127.0.0.1:1 max_fails=0',
  LONGHAND_TASKS_SERVER: '127.0.0.1:2 max_fails=0',
};

/** nginx without the applications, on 127.0.0.1. */
export interface TemporaryProxy {
  readonly ports: Readonly<Record<'all' | 'expander' | 'tasks', number>>;
  /** nginx's errors and access log so far. */
  readonly log: readonly string[];
  /** The process id of nginx's master. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** The pages by path, rendered once per process: that takes longer than starting nginx. */
let pages: Promise<[path: string, page: Buffer][]> | undefined;

async function makePages() {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-pages-'));
  await writePages(folder);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const made = files.map(
    async (path): Promise<[string, Buffer]> => [relative(folder, path), await readFile(path)],
  );
  return Promise.all(made).finally(() => rm(folder, { recursive: true }));
}

/**
 * Starts nginx with the project's templates for tests and measurements, on free ports.
 *
 * @param variables override the defaults.
 * @param edit changes a rendered file before nginx reads it, for example to shorten timeouts.
 * @param image an image of Docker whose nginx runs instead of the machine's own.
 */
export async function startTemporaryProxy(
  variables: ProxyVariables,
  edit: (text: string, file: string) => string = (text) => text,
  image?: string,
): Promise<TemporaryProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-proxy-'));
  const ports = await freePorts('all', 'expander', 'tasks');
  const prefix = join(folder, 'proxy');
  await configureProxy(prefix, ['127.0.0.1'], {
    ...defaultVariables,
    LONGHAND_PORT: ports.all,
    LONGHAND_EXPANDER_PORT: ports.expander,
    LONGHAND_TASKS_PORT: ports.tasks,
    ...variables,
  });
  pages ??= makePages();
  for (const [path, page] of await pages) {
    await mkdir(dirname(join(prefix, 'pages', path)), { recursive: true });
    await writeFile(join(prefix, 'pages', path), page);
  }
  const files = (await readdir(join(prefix, 'conf.d'))).map((name) => join('conf.d', name));
  for (const name of ['nginx.conf', ...files]) {
    const path = join(prefix, name);
    await writeFile(path, edit(await readFile(path, 'utf8'), name));
  }
  const log: string[] = [];
  await writeFile(join(folder, logFile), '');
  const accessLog = openSync(join(folder, logFile), 'r');
  let bytesRead = 0;
  let stopped = false;
  // Read each line once: some tests look after each of a thousand requests.
  const readLog = () => {
    const more = Buffer.alloc(fstatSync(accessLog).size - bytesRead);
    readSync(accessLog, more, 0, more.length, bytesRead);
    const end = more.lastIndexOf('\n') + 1;
    bytesRead += end;
    log.push(...more.toString('utf8', 0, end).split('\n').slice(0, -1));
  };
  const spec = proxy('127.0.0.1', ports.all);
  const nginx = await supervise(image === undefined ? spec : inContainer(spec, folder, image), {
    folder,
    env: { PATH: searchPath(process.env) },
    onLine: (_, line) => log.push(line),
  });
  // nginx opens its ports in turn, and the supervisor waits for the first.
  for (const port of Object.values(ports)) {
    while (!(await acceptsConnections({ host: '127.0.0.1', port }))) await sleep(10);
  }
  return {
    ports,
    get log() {
      if (!stopped) readLog();
      return log;
    },
    get pid() {
      return nginx.pid ?? 0;
    },
    async stop() {
      await nginx.stop();
      readLog();
      stopped = true;
      closeSync(accessLog);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The same process in a container with the machine's network and `folder`. */
function inContainer(spec: ProcessSpec, folder: string, image: string): ProcessSpec {
  const place = ['--network', 'host', '--volume', `${folder}:${folder}`, '--workdir', folder];
  return { ...spec, command: 'docker', args: ['run', '--rm', ...place, image, spec.command, ...spec.args] };
}
