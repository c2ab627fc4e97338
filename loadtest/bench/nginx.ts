import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';

export interface Nginx extends AsyncDisposable {
  /** The URLs of the applications' ports. */
  urls: { expander: string; tasks: string };
  pid: number;
}

type Edit = (text: string, file: string) => string;

/**
 * Starts nginx as it is configured in the stack, before the tasks service at `tasks`, with the rate limit out of reach.
 * Its access log goes to /dev/null, as do those of the services.
 *
 * @param edit changes each rendered file.
 */
export async function startNginx(tasks = 'http://127.0.0.1:1', edit: Edit = (text) => text): Promise<Nginx> {
  const variables = {
    LONGHAND_API_RATE: '9999999r/s',
    LONGHAND_TASKS_SERVER: `${new URL(tasks).host} max_fails=0`,
  };
  const { ports, pid, stop } = await startTemporaryProxy(variables, (text, file) =>
    edit(text, file).replaceAll('../log/access.log', '/dev/null'),
  );
  const url = (port: number) => `http://127.0.0.1:${port}`;
  return {
    urls: { expander: url(ports.expander), tasks: url(ports.tasks) },
    pid,
    [Symbol.asyncDispose]: stop,
  };
}

/** nginx's own `return` at /api: as many bytes and the same headers as `response`, with the log and the limit of /api. */
export function constant(response: Response): Edit {
  const headers = [...response.headers]
    .filter(([name]) => !/^(connection|keep-alive|date|content-(type|length|encoding))$/.test(name))
    .map(([name, value]) => `add_header ${name} "${value.replaceAll('"', '\\"')}";`);
  const body = 'x'.repeat(Number(response.headers.get('content-length')));
  const limit = 'limit_req zone=api burst=9999999 nodelay;';
  const location = `location = /api { gzip off; ${limit} ${headers.join(' ')} return 200 ${body}; }`;
  return (text, file) =>
    file === 'conf.d/expander.locations'
      ? `${location}\n${text.replace('location = /api {', 'location = /../replaced {')}`
      : text;
}
