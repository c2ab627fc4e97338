import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { docker } from '@longhand/shared/testing/engine.ts';
import { signal, startComposeProject } from './compose-project.ts';
import type { ServiceName, TestStack } from './test-stack.ts';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

export interface ComposedStack extends TestStack {
  /** The name of the compose project, unique for each stack. */
  readonly project: string;
  /** Runs `docker compose` and returns its output. */
  compose(...args: string[]): Promise<string>;
  /** The ids of a service's containers, sorted. */
  containers(service: ServiceName): Promise<string[]>;
  /** Runs a script of deploy/ on this stack, and returns its output. */
  script(path: string, args: string[], input?: string): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts the stack of docker-compose.yml with the local shortener, as a separate project on free ports; `stop` removes
 * everything.
 *
 * @param options name other files.
 */
export async function startComposed(
  options?: Parameters<typeof startComposeProject>[1],
): Promise<ComposedStack> {
  const project = `longhand-test-${randomBytes(4).toString('hex')}`;
  const { env, ports, compose, containers, stop } = await startComposeProject(project, options);
  return {
    project,
    compose,
    containers,
    port: ports.LONGHAND_PORT,
    expanderPort: ports.LONGHAND_EXPANDER_PORT,
    tasksPort: ports.LONGHAND_TASKS_PORT,
    shortener: 'http://shortener:9000',
    async script(path, args, input = '') {
      const running = run(join(root, 'deploy', path), args, { cwd: root, env });
      running.child.stdin?.end(input);
      return (await running).stdout;
    },
    async proxyLog() {
      const [id = ''] = await containers('proxy');
      return (await docker('logs', '--since=1m', id)).split('\n');
    },
    async kill(service) {
      const [id = ''] = await containers(service);
      await signal(id, 'KILL');
    },
    stop,
  };
}
