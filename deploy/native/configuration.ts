import { spawnSync } from 'node:child_process';
import { copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { EnvironmentError } from '@longhand/shared/environment-error.ts';

const proxy = join(import.meta.dirname, '..', '..', 'proxy');
const templates = join(proxy, 'templates');
/** nginx writes it itself, so that no line passes through the supervisor. The path starts at nginx's prefix. */
const accessLog = '../log/access.log';

/** The variables of the templates that differ from stack to stack. */
export type ProxyVariables = Record<
  /** Addresses, separated by spaces. */
  | 'LONGHAND_LISTEN'
  | 'LONGHAND_PORT'
  | 'LONGHAND_EXPANDER_PORT'
  | 'LONGHAND_TASKS_PORT'
  | 'LONGHAND_API_RATE'
  | 'LONGHAND_EXPANDER_NAME'
  | 'LONGHAND_TASKS_NAME'
  | 'LONGHAND_FRONT'
  /** Empty for one to a core. */
  | 'LONGHAND_WORKERS'
  | 'LONGHAND_EXPANDER_SERVER'
  | 'LONGHAND_TASKS_SERVER',
  string
>;

/** What the container's script makes of the variables: all that it sees, with what it adds. */
function derived(variables: Record<string, string>): Record<string, string> {
  const script = join(proxy, 'derived.envsh');
  const env = { PATH: process.env.PATH, ...variables };
  const { status, stdout, stderr } = spawnSync('sh', ['-eu', '-c', '. "$0"; env', script], {
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new EnvironmentError(stderr.trim());
  return Object.fromEntries(
    [...stdout.matchAll(/^(LONGHAND_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
}

/**
 * Renders the container's templates into an nginx configuration in the folder `prefix`. No path of this machine gets
 * into it: nginx would take a `$` in one for a variable.
 */
export async function configureProxy(prefix: string, variables: ProxyVariables): Promise<void> {
  const values = {
    ...derived({ ...variables, LONGHAND_ACCESS_LOG: accessLog }),
    LONGHAND_PAGES: 'pages',
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
