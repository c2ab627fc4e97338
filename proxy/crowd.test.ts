import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startTemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { docker, engineAnswers } from '@longhand/shared/testing/engine.ts';
import { startShortener } from '@longhand/shortener';
import { afterAll, beforeAll, describe } from 'vitest';
import { type CrowdedStack, crowdRules } from './suite/crowd.ts';
import { startComposed } from './testing/composed.ts';
import { startHold } from './testing/crowd.ts';
import { residentBytes } from './testing/memory.ts';
import type { ServiceName } from './testing/test-stack.ts';

const services: ServiceName[] = ['proxy', 'expander', 'expander-cache', 'tasks', 'tasks-store'];
const engine = await engineAnswers();

describe('A crowd before the stack without Docker', () => {
  let crowded: CrowdedStack;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const [stack, shortener] = await Promise.all([startTemporaryStack(), startShortener()]);
    stop = async () => {
      await stack.stop();
      await shortener.close();
    };
    const port = (url: string) => Number(new URL(url).port);
    crowded = {
      stack: {
        ...({} as CrowdedStack['stack']),
        port: port(stack.urls.proxy),
        expanderPort: port(stack.urls.expander),
        tasksPort: port(stack.urls.tasks),
        shortener: shortener.url,
      },
      host: '127.0.0.1',
      start: (hold, n) => startHold({ ...hold, from: `127.0.0.${2 + n}` }),
      async memory() {
        const entries = stack.processes.map(async ({ name, pid }) => [name, await residentBytes(pid ?? 0)]);
        return Object.fromEntries(await Promise.all(entries));
      },
    };
  });
  afterAll(() => stop?.());

  crowdRules(() => crowded);
});

describe.skipIf(!engine)('A crowd before the stack in containers', () => {
  let crowded: CrowdedStack;
  beforeAll(async () => {
    const stack = await startComposed();
    const [proxy = ''] = await stack.containers('proxy');
    const network = `${stack.project}_front`;
    const address = `{{(index .NetworkSettings.Networks "${network}").IPAddress}}`;
    const program = join(import.meta.dirname, 'testing', 'hold.ts');
    crowded = {
      stack,
      host: await docker('inspect', proxy, '--format', address),
      // Each container has an address of its own.
      start: (hold) =>
        spawn(
          'docker',
          [
            ...['run', '--rm', '--interactive', '--network', network, '--volume', `${program}:/hold.ts:ro`],
            ...['node:26.10.0-trixie-slim', 'node', '/hold.ts', JSON.stringify(hold)],
          ],
          { stdio: ['pipe', 'pipe', 'inherit'] },
        ),
      async memory() {
        const used = services.map(async (service) => {
          const [id = ''] = await stack.containers(service);
          const usage = await docker('stats', '--no-stream', '--format', '{{.MemUsage}}', id);
          return [service, Number.parseFloat(usage) * (/^[\d.]+GiB/.test(usage) ? 1024 ** 3 : 1024 ** 2)];
        });
        return Object.fromEntries(await Promise.all(used));
      },
    };
  }, 300_000);
  afterAll(() => crowded?.stack.stop());

  crowdRules(() => crowded);
});
