import type http from 'node:http';
import { startTemporaryProxy, type TemporaryProxy } from '@longhand/deploy/testing/temporary-proxy.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';

/**
 * Starts nginx in front of `application`, which stands for both services unless the variables name others. `stop` ends
 * both. The other parameters are those of `startTemporaryProxy`.
 */
export async function startProxied(
  application: http.Server,
  variables: Parameters<typeof startTemporaryProxy>[0] = {},
  edit?: (text: string) => string,
): Promise<TemporaryProxy> {
  const server = `127.0.0.1:${await listening(application)} max_fails=0`;
  const servers = { LONGHAND_EXPANDER_SERVER: server, LONGHAND_TASKS_SERVER: server };
  const proxy = await startTemporaryProxy({ ...servers, ...variables }, edit);
  const { stop } = proxy;
  return Object.assign(proxy, {
    async stop() {
      await stop();
      cutOff(application);
    },
  });
}
