import { type ChildProcess, spawn } from 'node:child_process';
import http from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';
import { onTestFinished } from 'vitest';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/**
 * The service as `npm start` starts it, on free ports, its Redis away.
 *
 * @param wrapper a command and its first arguments, after which the service's command follows.
 */
export function startService(
  env: Record<string, string> = {},
  wrapper: readonly string[] = [],
): ChildProcess {
  const usual = { PORT: '0', OPS_PORT: '0', EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8' };
  const [command = '', ...args] = [...wrapper, process.execPath, main];
  return spawn(command, args, {
    env: { ...childEnvironment, REDIS_URL: 'redis://127.0.0.1:1', ...usual, ...env },
  });
}

/** Starts the service for this test, and discards its log. @returns its URL. */
export async function serviceOfTest(wrapper: readonly string[] = []): Promise<string> {
  const service = startService({}, wrapper);
  onTestFinished(() => void service.kill('SIGKILL'));
  const { url } = await logged(service, 'listening');
  service.stdout?.resume();
  return url;
}

/** The first line of the log with `message`. */
export async function logged(
  service: ChildProcess,
  message: string,
): Promise<Record<'version' | 'url' | 'operations', string>> {
  if (!service.stdout) throw new Error('no standard output');
  for await (const line of createInterface(service.stdout)) {
    const entry = JSON.parse(line);
    if (entry.msg === message) return entry;
  }
  throw new Error(`the service ended without the line ${message}`);
}

/**
 * Asks the expander at `api` for the expansion of `url`.
 *
 * @param client its address.
 * @returns the status; 0 if there is none, or if `signal` was aborted before.
 */
export function expand(
  api: string,
  url: string,
  client: string,
  { follow = '', signal }: { follow?: string; signal?: AbortSignal } = {},
): Promise<number> {
  const headers = { 'X-Forwarded-For': client };
  return new Promise((resolve) =>
    http
      .get(`${api}api?u=${encodeURIComponent(url)}&follow=${follow}`, { headers, signal }, (response) => {
        response.resume().on('close', () => resolve(response.statusCode ?? 0));
      })
      .on('error', () => resolve(0)),
  );
}
