import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startTemporaryStack, type TemporaryStack } from '@longhand/deploy/testing/temporary-stack.ts';
import { childEnvironment } from '@longhand/shared/testing/child-environment.ts';
import { type Shortener, startShortener } from '@longhand/shortener';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RehearsedStack } from './containers.ts';
import type { Fault, Step } from './fault.ts';
import { faults } from './faults.ts';
import {
  answersWithin,
  backWithin,
  lastFailsWithin,
  noneFails,
  noneFailsLater,
  slowedAtMost,
} from './judge.ts';
import type { Request } from './load.ts';
import { describe as inOneLine, rehearse } from './rehearse.ts';

test('PROMISES.md has a row for each fault, no other, and links to tests that exist', async () => {
  const root = join(import.meta.dirname, '..', '..');
  const document = await readFile(join(root, 'PROMISES.md'), 'utf8');
  const [rehearsed = '', tested = ''] = document.split('## Held by tests');
  const rows = [...rehearsed.matchAll(/^\| (\w+-\S+) \| .+ \|$/gm)].map(([, id]) => id);
  expect(rows).toEqual(Object.keys(faults));
  const files = [...tested.matchAll(/\]\((.+?)\)/g)].map(([, file = '']) => file);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('without an engine it says so, and exits with 2', async () => {
  const env = { ...childEnvironment, DOCKER_HOST: 'unix:///nonexistent' };
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    const main = join(import.meta.dirname, 'main.ts');
    execFile(process.execPath, [main], { env }, (error, _, stderr) => resolve({ code: error?.code, stderr }));
  });
  expect([code, stderr]).toEqual([2, expect.stringContaining('no Docker engine answers')]);
});

describe('A judge', () => {
  const request = (at: number, changes: Partial<Request> = {}): Request => ({
    kind: 'read',
    at,
    milliseconds: 10,
    status: 200,
    right: true,
    ...changes,
  });
  const failure = (at: number, changes: Partial<Request> = {}) =>
    request(at, { right: false, status: 502, ...changes });
  const observed = (...requests: Request[]) => ({ requests, began: 1_000, ended: 2_000, exits: [1_000] });

  test.each([
    ['a failure', noneFails(), [failure(1_500)]],
    ['a failure of a kind', noneFails('read'), [failure(1_500)]],
    ['a failure that began too late', noneFailsLater('ended', 1), [failure(3_100)]],
    ['a failure that came too late', lastFailsWithin(3), [failure(4_100, { milliseconds: 3_050 })]],
    ['an answer that took too long', answersWithin(1), [request(2_500, { milliseconds: 1_200 })]],
    [
      'what became slow',
      slowedAtMost(2, 'read'),
      [request(500, { milliseconds: 40 }), request(1_500, { milliseconds: 100 })],
    ],
    ['a service that does not come back', backWithin(1, 'read'), [request(2_500)]],
  ])('notices %s', (_, judge, requests) => {
    expect(judge(observed(...requests))).toBeTypeOf('string');
  });

  test.each([
    ['a failure before the fault', noneFails(), [failure(500)]],
    ['a failure of another kind', noneFails('write'), [failure(1_500)]],
    ['a failure that began in time', noneFailsLater('ended', 1), [failure(3_100, { milliseconds: 200 })]],
    ['a failure that came in time', lastFailsWithin(3), [failure(3_900, { milliseconds: 2_850 })]],
    ['a service that comes back', backWithin(1, 'read'), [request(1_900)]],
  ])('allows %s', (_, judge, requests) => {
    expect(judge(observed(...requests))).toBeUndefined();
  });
});

const run = promisify(execFile);

/** What a rehearsal needs of a stack, from one without containers: it starts in two seconds. */
function rehearsed(stack: TemporaryStack, shortener: Shortener): RehearsedStack {
  const store = () => stack.processes.find(({ name }) => name === 'tasks-store');
  const socket = join(stack.folder, 'run', 'tasks-store.sock');
  return {
    urls: stack.urls,
    shortener: shortener.url,
    first: async () => `${store()?.pid}`,
    signal: async (pid: string, name: string) => void process.kill(Number(pid), `SIG${name}`),
    redis: async (_: string, ...command: string[]) =>
      (await run('redis-cli', ['-s', socket, ...command])).stdout.trim(),
    settled: () =>
      expect.poll(async () => (await fetch(stack.urls.tasks)).status, { timeout: 20_000 }).toBe(200),
  } as never;
}

describe('A rehearsal', { timeout: 120_000 }, () => {
  let stack: RehearsedStack;
  const stopping = new AsyncDisposableStack();
  beforeAll(async () => {
    const shortener = await startShortener();
    stopping.defer(shortener.close);
    stack = rehearsed(stopping.use(await startTemporaryStack()), shortener);
  });
  afterAll(() => stopping.disposeAsync());

  test('of a store that is killed: the promise is kept', async () => {
    const killed = faults['store-killed'] as Fault;
    const { broken, requests, notes } = await rehearse(killed, stack);
    // How fast it is answered is for a machine that does nothing else.
    expect(broken.filter((sentence) => !sentence.startsWith('took longer'))).toEqual([]);
    expect(requests.length).toBeGreaterThan(100);
    expect(notes).toEqual([expect.stringMatching(/^\d{2,} writes acknowledged, 0 lost$/)]);
  });

  test('catches a stack that does not come back, and goes on', async () => {
    const urls = { ...stack.urls };
    const begin = async () => {
      urls.tasks = 'http://127.0.0.1:1';
    };
    const { broken } = await rehearse({ judges: [], begin }, { ...stack, urls });
    expect(broken).toEqual([expect.stringContaining('the tasks cannot be listed')]);
  });

  test('catches a store that loses what it acknowledged, and the report says so', async () => {
    const begin: Step = (stack) => stack.redis('tasks-store', 'FLUSHALL');
    const drill = await rehearse({ judges: [], begin }, stack);
    expect(drill.broken).toEqual([expect.stringMatching(/^lost: rehearsal-/)]);
    expect(inOneLine('store-forgetful', drill)).toMatch(/^BROKEN +store-forgetful .*; lost: rehearsal-/);
  });
});
