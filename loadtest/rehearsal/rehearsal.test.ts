import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installedK6, type K6 } from '../k6.ts';
import {
  answersWithin,
  backWithin,
  type Fault,
  lastFailsWithin,
  noneFails,
  noneFailsLater,
  slowedAtMost,
} from './fault.ts';
import { faults, tested } from './faults.ts';
import type { Request } from './load.ts';
import { startNative } from './native.ts';
import { promises, promisesFile } from './promises.ts';
import { type Result, rehearse } from './rehearse.ts';
import { html, markdown } from './report.ts';
import type { RehearsedStack } from './stack.ts';

test('PROMISES.md is what the list says: `node loadtest/rehearsal/promises.ts` writes it', async () => {
  expect(await readFile(promisesFile, 'utf8')).toBe(promises());
});

test('the tests that hold a promise exist, and no two rows have one name', () => {
  const files = tested.flatMap(({ tests }) => tests);
  const root = join(import.meta.dirname, '..', '..');
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  expect(new Set(faults.map(({ id }) => id)).size).toBe(faults.length);
});

test('a row that a kind of stack does not have is not run there, and says why', async () => {
  const stack = { kind: 'kubernetes' } as RehearsedStack;
  const k6: K6 = { version: 'none', command: () => [] };
  for (const [id, reason] of [
    ['cache-slow', 'no relay is put between pods'],
    ['names-gone', 'only in containers'],
  ]) {
    const row = faults.find((fault) => fault.id === id) as Fault;
    expect((await rehearse(row, { k6, stack, short: true })).skipped).toBe(reason);
  }
});

test('without LONGHAND_REHEARSAL it refuses to run', async () => {
  const { LONGHAND_REHEARSAL, ...env } = process.env;
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    const main = join(import.meta.dirname, 'main.ts');
    execFile(process.execPath, [main, 'native'], { env }, (error, _, stderr) =>
      resolve({ code: error?.code, stderr }),
    );
  });
  expect([code, stderr]).toEqual([1, expect.stringContaining('LONGHAND_REHEARSAL=1 make rehearse')]);
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

const installed = await installedK6();
const skipped = installed ? '' : ' (skipped: k6 is not installed; "make load" installs it)';

describe.skipIf(skipped !== '')(`A short rehearsal${skipped}`, { timeout: 120_000 }, () => {
  const k6 = installed as K6;
  let stack: RehearsedStack;
  beforeAll(async () => {
    process.env.LOAD_PROFILE = 'short';
    stack = await startNative();
  });
  afterAll(() => stack?.stop());
  const results: Result[] = [];
  const short = async (fault: Fault) => {
    const result = await rehearse(fault, { k6, stack, short: true });
    results.push(result);
    return result;
  };

  test('a store that is killed: the promise is kept', async () => {
    const { broken, requests, ledger } = await short(faults.find(({ id }) => id === 'store-killed') as Fault);
    // How fast it is answered is for a machine that does nothing else.
    expect(broken.filter((sentence) => !sentence.startsWith('took longer'))).toEqual([]);
    expect(requests).toBeGreaterThan(30);
    expect(ledger.acknowledged).toBeGreaterThan(5);
  });

  test('a stack that does not come back is caught, and the rehearsal goes on', async () => {
    const urls = { ...stack.urls };
    const cause = async () => {
      urls.tasks = 'http://127.0.0.1:1';
    };
    const fault: Fault = { id: 'gone', fault: 'Tasks are gone', promise: 'None.', judges: [], cause };
    const { broken } = await rehearse(fault, { k6, stack: { ...stack, urls }, short: true });
    expect(broken).toEqual([expect.stringContaining('the tasks cannot be listed')]);
  });

  test('a store that loses what it acknowledged is caught, and the report says so', async () => {
    const { broken } = await short({
      id: 'store-forgetful',
      fault: 'The store forgets everything',
      promise: 'Nothing acknowledged is lost.',
      judges: [],
      async cause(stack, drill) {
        drill.begins();
        await stack.redis('tasks-store', 'FLUSHALL');
      },
    });
    expect(broken).toEqual([expect.stringMatching(/^lost: rehearsal-/)]);
    for (const report of [markdown('Rehearsal', results), html('Rehearsal', results)]) {
      expect(report).toContain('store-forgetful');
      expect(report).toContain('BROKEN');
      expect(report).toContain('store-killed');
    }
  });
});
