import { startTemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';

export interface Nginx {
  /** The port of the expander. */
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/**
 * Starts nginx as it is configured in the stack, with `upstream` in the place of the expander and the rate limit out of
 * reach. Its access log is written to /dev/null, as are those of the services.
 *
 * @param edit changes each rendered file.
 */
export async function startNginx(upstream: string, edit = (text: string) => text): Promise<Nginx> {
  const variables = {
    LONGHAND_API_RATE: '9999999r/s',
    LONGHAND_API_BURST: '9999999',
    LONGHAND_EXPANDER_SERVER: `${new URL(upstream).host} max_fails=0`,
  };
  const { ports, pid, stop } = await startTemporaryProxy(variables, (text) =>
    edit(text).replaceAll('/dev/stdout', '/dev/null'),
  );
  return { url: `http://127.0.0.1:${ports.expander}`, pid, stop };
}
