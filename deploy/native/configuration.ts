import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { EnvironmentError } from '@longhand/shared/environment-error.ts';
import { logFile } from './log.ts';

const run = promisify(execFile);
const proxy = join(import.meta.dirname, '..', '..', 'proxy');
const templates = join(proxy, 'templates');

/** Variables from `readEnv` plus computed values such as the upstreams. */
export type ProxyVariables = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export const asText = (variables: ProxyVariables): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).map(([name, value = '']) => [name, `${value}`]));

/** Returns the variables that derived.envsh computes. @throws EnvironmentError with the script's message. */
function derived(variables: ProxyVariables): Record<string, string> {
  const env = { PATH: process.env.PATH, ...asText(variables) };
  const script = '. "$0/derived.envsh"; env';
  const { status, stdout, stderr } = spawnSync('sh', ['-euc', script, proxy], { env, encoding: 'utf8' });
  if (status !== 0) throw new EnvironmentError(stderr.trim());
  return Object.fromEntries(
    [...stdout.matchAll(/^(LONGHAND_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
}

export const writePages = (folder: string) =>
  run(process.execPath, [join(proxy, 'pages', 'main.ts'), folder]);

/**
 * Renders the image's templates into the folder `prefix`. Uses only relative paths, because nginx would treat a `$` in an
 * absolute path as a variable.
 */
export async function configureProxy(
  prefix: string,
  listen: readonly string[],
  variables: ProxyVariables,
): Promise<void> {
  const folder = join(prefix, 'conf.d');
  // Clear the cache, because new settings may forbid cached responses.
  for (const old of [folder, join(prefix, 'responses')]) await rm(old, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await copyFile(join(proxy, 'nginx.conf'), join(prefix, 'nginx.conf'));
  const values = {
    // nginx appends to the stack's log. The log path is relative to the prefix.
    ...derived({ ...variables, LONGHAND_ACCESS_LOG: `../${logFile}` }),
    LONGHAND_PAGES: 'pages',
    // The template requires a resolver, although no upstream needs it.
    NGINX_LOCAL_RESOLVERS: '127.0.0.1',
  };
  for (const name of await readdir(templates)) {
    const text = await readFile(join(templates, name), 'utf8');
    const each = listenOnEach(text, listen);
    await writeFile(join(folder, basename(name, '.template')), render(each, values));
  }
}

function listenOnEach(template: string, addresses: readonly string[]): string {
  return template.replace(/^ *listen \$\{LONGHAND_LISTEN\}.*$/gm, (directive) =>
    addresses.map((address) => render(directive, { LONGHAND_LISTEN: address })).join('\n'),
  );
}

/** Replaces `${NAME}` and `$NAME` if `values` has the name, like envsubst in the nginx image. Keeps nginx's variables. */
export function render(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (reference, braced?: string, bare?: string) => values[braced ?? bare ?? ''] ?? reference,
  );
}

export const portNames = ['LONGHAND_PORT', 'LONGHAND_EXPANDER_PORT', 'LONGHAND_TASKS_PORT'] as const;

/** Returns the proxy's listen addresses, in URL syntax. `::` also accepts IPv4, as usual for servers. */
export function addressesOf(bind: string): [string, ...string[]] {
  const { hostname } = new URL(`http://${bind.includes(':') ? `[${bind}]` : bind}`);
  return hostname === '[::]' ? ['0.0.0.0', '[::]'] : [hostname];
}

/** @throws EnvironmentError that lists every port on which nginx cannot listen. */
export async function checkPorts(
  ports: Record<(typeof portNames)[number], number>,
  address: string,
): Promise<void> {
  await using servers = new AsyncDisposableStack();
  const faults: string[] = [];
  for (const name of portNames) {
    await once(servers.use(createServer()).listen(ports[name], address), 'listening').catch(({ message }) =>
      faults.push(`${name}=${ports[name]}: ${message}`),
    );
  }
  if (faults.length === 0) return;
  const remedy =
    'Choose three free ports, for example: LONGHAND_PORT=18080 make up. Ports below 1024 require root. ' +
    'LONGHAND_BIND must be an address of this machine.';
  throw new EnvironmentError([...faults, remedy].join('\n'));
}
