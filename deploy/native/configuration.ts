import { copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';

const proxy = join(import.meta.dirname, '..', '..', 'proxy');
const templates = join(proxy, 'templates');

/** The variables of the templates that differ from stack to stack. */
export type ProxyVariables = Record<
  /** Addresses, separated by spaces. */
  | 'LONGHAND_LISTEN'
  | 'LONGHAND_PORT'
  | 'LONGHAND_EXPANDER_PORT'
  | 'LONGHAND_TASKS_PORT'
  | 'LONGHAND_API_RATE'
  | 'LONGHAND_API_BURST'
  | 'LONGHAND_EXPANDER_NAME'
  | 'LONGHAND_TASKS_NAME'
  | 'LONGHAND_FRONT_TRUSTED'
  | 'LONGHAND_FRONT_NETWORKS'
  | 'LONGHAND_WORKERS'
  | 'LONGHAND_WORKER_CONNECTIONS'
  | 'LONGHAND_EXPANDER_SERVER'
  | 'LONGHAND_TASKS_SERVER',
  string
>;

/** What proxy/derived.envsh computes in the container: nginx's workers, and the connections of each. */
export function workers(wanted: number | undefined, cores = availableParallelism()) {
  const count = wanted ?? Math.min(cores, 4);
  return {
    LONGHAND_WORKERS: `${count}`,
    LONGHAND_WORKER_CONNECTIONS: `${Math.min(Math.floor(32_768 / count), 16_384)}`,
  };
}

/** What proxy/derived.envsh makes of LONGHAND_FRONT: nginx's directives for the networks of a front. */
export const frontNetworks = (networks: readonly string[]) => ({
  LONGHAND_FRONT_TRUSTED: networks.map((network) => `set_real_ip_from ${network};`).join(' '),
  LONGHAND_FRONT_NETWORKS: networks.map((network) => `${network} front;`).join(' '),
});

/**
 * Renders the container's templates into an nginx configuration in the folder `prefix`. No path of this machine gets
 * into it: nginx would take a `$` in one for a variable.
 */
export async function configureProxy(prefix: string, variables: ProxyVariables): Promise<void> {
  const values = {
    ...variables,
    LONGHAND_PAGES: 'pages',
    // `make observe` follows the one access log.
    LONGHAND_COUNTER_LOG: '',
    // Never queried: the upstreams are addresses.
    NGINX_LOCAL_RESOLVERS: '127.0.0.1',
  };
  const folder = join(prefix, 'conf.d');
  await mkdir(folder, { recursive: true });
  await copyFile(join(proxy, 'nginx.conf'), join(prefix, 'nginx.conf'));
  await cp(join(proxy, 'pages'), join(prefix, 'pages'), { recursive: true });
  for (const name of await readdir(templates)) {
    const text = await readFile(join(templates, name), 'utf8');
    const each = listenOnEach(text, variables.LONGHAND_LISTEN.split(' '));
    await writeFile(join(folder, basename(name, '.template')), render(each, values));
  }
}

/** Repeats each `listen` directive for each address. */
function listenOnEach(template: string, addresses: readonly string[]): string {
  return template.replace(/^ *listen \$\{LONGHAND_LISTEN\}.*$/gm, (directive) =>
    addresses.map((address) => render(directive, { LONGHAND_LISTEN: address })).join('\n'),
  );
}

/**
 * Substitutes `values` as envsubst does in the official nginx image: replaces `${NAME}` and `$NAME` where `values` has
 * the name, and leaves everything else, such as nginx's own variables, alone.
 */
export function render(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (reference, braced?: string, bare?: string) => values[braced ?? bare ?? ''] ?? reference,
  );
}
