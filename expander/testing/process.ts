import { type ChildProcess, spawn } from 'node:child_process';
import http from 'node:http';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';
import { onTestFinished } from 'vitest';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/**
 * Starts the service like `npm start`, on free ports and without Redis.
 *
 * @param wrapper a command that runs the service, with its first arguments.
 */
export function startService(env: Record<string, string> = {}, wrapper: readonly string[] = []) {
  const usual = { REDIS_URL: 'redis://127.0.0.1:1', PORT: '0', OPS_PORT: '0' };
  const [command = '', ...args] = [...wrapper, process.execPath, main];
  return spawn(command, args, {
    env: { ...childEnvironment, ...usual, EXPANDER_ALLOWED_NETWORKS: '127.0.0.0/8', ...env },
  });
}

/** Runs the service until the test ends. */
export async function serviceOfTest(wrapper: readonly string[] = []): Promise<{ url: string; pid: number }> {
  const { stop, ...service } = await runService(wrapper);
  onTestFinished(stop);
  return service;
}

/** Runs the service until `stop` is called. */
export async function runService(wrapper: readonly string[] = [], env: Record<string, string> = {}) {
  const service = startService(env, wrapper);
  const { url } = await logged(service, 'listening');
  service.stdout?.resume();
  return { url, pid: service.pid ?? 0, stop: () => void service.kill('SIGKILL') };
}

/** Waits for a log line with `message`. */
export async function logged({ stdout }: ChildProcess, message: string) {
  for await (const line of createInterface(stdout as Readable)) {
    const entry: Record<'msg' | 'version' | 'url' | 'operations', string> = JSON.parse(line);
    if (entry.msg === message) return entry;
  }
  throw new Error(`The service exited without logging "${message}"`);
}

/**
 * Sends a request to expand `url` to the service at `api`.
 *
 * @param client the client's IP address.
 * @returns the status, or 0 if the request fails or `signal` aborts.
 */
export function expand(
  api: string,
  url: string,
  client: string,
  { follow = '', signal }: { follow?: string; signal?: AbortSignal } = {},
): Promise<number> {
  const headers = { 'X-Forwarded-For': client };
  const { promise, resolve } = Promise.withResolvers<number>();
  http
    .get(`${api}api?u=${encodeURIComponent(url)}&follow=${follow}`, { headers, signal })
    .on('response', (response) => response.resume().on('close', () => resolve(response.statusCode ?? 0)))
    .on('error', () => resolve(0));
  return promise;
}
