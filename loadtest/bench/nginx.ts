import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';

export interface Nginx extends AsyncDisposable {
  /** The ports of the applications. */
  urls: { expander: string; tasks: string };
  pid: number;
}

/** Where nginx passes requests on to: the URLs of one or more replicas. */
export interface Upstreams {
  expander?: string | string[];
  tasks?: string;
}

/**
 * Starts nginx as it is configured in the stack, with `upstreams` in the place of the applications and the rate limit
 * out of reach. Its access log is written to /dev/null, as are those of the services.
 *
 * @param edit changes each rendered file.
 * @param more variables of the templates.
 */
export async function startNginx(
  upstreams: Upstreams,
  edit: Edit = (text) => text,
  more: Record<string, string> = {},
): Promise<Nginx> {
  const servers = (urls: string | string[] = 'http://127.0.0.1:1') =>
    [urls].flat().map((url) => `${new URL(url).host} max_fails=0`);
  const variables = {
    LONGHAND_API_RATE: '9999999r/s',
    LONGHAND_API_BURST: '9999999',
    LONGHAND_EXPANDER_SERVER: servers(upstreams.expander).join('; server '),
    LONGHAND_TASKS_SERVER: servers(upstreams.tasks).join(),
    ...more,
  };
  const { ports, pid, stop } = await startTemporaryProxy(variables, (text, file) =>
    edit(text, file).replaceAll('/dev/stdout', '/dev/null'),
  );
  const url = (port: number) => `http://127.0.0.1:${port}`;
  return {
    urls: { expander: url(ports.expander), tasks: url(ports.tasks) },
    pid,
    [Symbol.asyncDispose]: stop,
  };
}

type Edit = (text: string, file: string) => string;

/** Takes `parts` out of the configuration. */
export function without(...parts: (string | RegExp)[]): Edit {
  return (text) => parts.reduce<string>((left, part) => left.replace(part, ''), text);
}

/**
 * nginx's own `return` at some paths, with the body and the headers of `responses`, and the log and the limit of the
 * location that it replaces.
 */
export async function constant(responses: Record<string, Response>): Promise<Edit> {
  const locations = await Promise.all(
    Object.entries(responses).map(async ([path, response]) => {
      const headers = [...response.headers]
        .filter(([name]) => !/^(connection|keep-alive|date|content-(type|length|encoding))$/.test(name))
        .map(([name, value]) => `add_header ${name} "${value.replaceAll('"', '\\"')}";`);
      // fetch has decompressed it: only its length is as it was.
      const body = 'x'.repeat(Number(response.headers.get('content-length')));
      const limit = 'limit_req zone=api burst=9999999 nodelay; add_header X-Request-Id $request_id;';
      return {
        path,
        location: `location = ${path} { gzip off; ${limit} ${headers.join(' ')} return 200 ${body}; }`,
      };
    }),
  );
  return (text, file) => {
    for (const { path, location } of locations) {
      if (file === `conf.d/${path.startsWith('/api') ? 'expander' : 'tasks'}.locations`)
        text = `${location}\n${text.replace(`location = ${path} {`, 'location = /../replaced {')}`;
    }
    return text;
  };
}
