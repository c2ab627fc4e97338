import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

const proxy = join(import.meta.dirname, '..', '..', 'proxy');
const templates = join(proxy, 'templates');

/** What the templates need to know, by the names they use. */
export type ProxyVariables = Record<
  | 'LONGHAND_LISTEN'
  | 'LONGHAND_PORT'
  | 'LONGHAND_EXPANDER_PORT'
  | 'LONGHAND_TASKS_PORT'
  | 'LONGHAND_API_RATE'
  | 'LONGHAND_API_BURST'
  | 'LONGHAND_EXPANDER_SERVER'
  | 'LONGHAND_TASKS_SERVER',
  string
>;

/** Writes nginx's configuration into the folder `prefix`, from the templates of the container. */
export async function configureProxy(prefix: string, variables: ProxyVariables): Promise<void> {
  const values = {
    ...variables,
    LONGHAND_PAGES: join(proxy, 'pages'),
    // Never asked: the upstreams are given by address.
    NGINX_LOCAL_RESOLVERS: '127.0.0.1',
  };
  const folder = join(prefix, 'conf.d');
  await mkdir(folder, { recursive: true });
  await copyFile(join(proxy, 'nginx.conf'), join(prefix, 'nginx.conf'));
  for (const name of await readdir(templates)) {
    const text = await readFile(join(templates, name), 'utf8');
    await writeFile(join(folder, basename(name, '.template')), render(text, values));
  }
}

/**
 * Puts `values` into a template as envsubst does in the official nginx image: `${NAME}` and `$NAME` where
 * `values` has the name; all others, nginx's own variables among them, stay as they are.
 */
export function render(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (reference, braced?: string, bare?: string) => values[braced ?? bare ?? ''] ?? reference,
  );
}
