import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { useStore } from './store.ts';

export type Service = Awaited<ReturnType<typeof startService>>;

/** Services that failed tests left running, to be stopped at the end of the test run. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts `src/main.ts` in `folder` as a process on free ports, and resolves once it listens. Returned URLs end in a slash.
 *
 * @param folder the workspace, or a changed copy
 */
export async function startService(env: Record<string, string>, folder = `${import.meta.dirname}/..`) {
  const child = spawn(process.execPath, [`${folder}/src/main.ts`], {
    env: { ...childEnvironment, PORT: '0', OPS_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const exited = once(child, 'exit').finally(() => running.delete(child));
  const log: Record<string, unknown>[] = [];
  const listening = Promise.withResolvers<Record<string, unknown>>();
  createInterface(child.stdout).on('line', (line) => {
    const entry = JSON.parse(line);
    log.push(entry);
    if (entry.msg === 'listening') listening.resolve(entry);
  });
  const { url, operations } = (await Promise.race([
    listening.promise,
    exited.then(([code]) => Promise.reject(new Error(`the service ended with ${code}`))),
  ])) as { url: string; operations: string };
  return {
    url,
    operations,
    pid: child.pid ?? 0,
    log,
    /** Sends `signal` and resolves with the exit code, or null if the signal ended the process. */
    async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
      child.kill(signal);
      return (await exited)[0];
    },
  };
}

/** Like `startService`, but stops the service after the test. */
export async function serviceOfTest(env: Record<string, string>): Promise<Service> {
  const service = await startService(env);
  onTestFinished(async () => void (await service.end('SIGKILL')));
  return service;
}

/** Starts a service with its own store for all tests of a file. Each test starts with an empty store. */
export function useService(env: Record<string, string> = {}) {
  const kept = useStore() as ReturnType<typeof useStore> & { service: Service };
  beforeAll(async () => {
    kept.service = await startService({ REDIS_URL: kept.url, ...env });
  });
  afterAll(async () => void (await kept.service.end('SIGKILL')));
  return kept;
}

/** The cookie that a response sets. */
export const cookieOf = ({ headers }: Response) => headers.get('set-cookie')?.split(';')[0] ?? '';

/** Sends the form of `page` like a browser without JavaScript. */
export async function sendForm(page: Response, url: string, fields: object): Promise<Response> {
  const _csrf = (await page.text()).match(/name="_csrf" value="([^"]+)"/)?.[1] ?? '';
  const body = new URLSearchParams({ ...fields, _csrf });
  return fetch(url, { method: 'POST', redirect: 'manual', headers: { Cookie: cookieOf(page) }, body });
}

/** Adds a task with the form on `page`, by default the list. */
export const addByForm = async ({ url }: { url: string }, title: string, page?: Response) =>
  sendForm(page ?? (await fetch(url)), `${url}task`, { title });
