import { existsSync, readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { expect, onTestFinished, test } from 'vitest';
import { type Request, settle } from './load.ts';
import { Drill, underLoad } from './rehearse.ts';

test('PROMISES.md lists exactly the rehearsed faults', () => {
  const root = join(import.meta.dirname, '..', '..');
  const [rehearsed = '', tested = ''] = readFileSync(join(root, 'docs/PROMISES.md'), 'utf8').split(
    '## Covered by tests',
  );
  const rows = [...rehearsed.matchAll(/^\| (\w+-\S+) \| .+ \|$/gm)].map(([, id]) => id);
  const folder = join(import.meta.dirname, 'rows');
  const code = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  const faults = [...code.join('').matchAll(/^(?:row\(| *\[)\s*'(\w+-\S+)',/gm)].map(([, id]) => id);
  expect(faults.toSorted()).toEqual(rows.toSorted());
  const files = [...tested.matchAll(/\]\((.+?)\)/g)].map(([, file = '']) => file);
  expect(files.filter((file) => !existsSync(join(root, 'docs', file)))).toEqual([]);
});

test('a drill reports failures and latencies since the fault began', () => {
  const request = (at: number, milliseconds: number, status = 200, kind: Request['kind'] = 'read') => ({
    ...{ kind, at, milliseconds, status },
    right: status === 200,
  });
  const drill = Object.assign(new Drill(), { began: 10_000, ended: 20_000 });
  expect([drill.failed(), drill.lastFailed(), drill.lastSentThatFailed('ended')]).toEqual(['', 0, 0]);
  drill.requests = [
    request(9_000, 40),
    request(9_500, 10, 502),
    request(11_000, 100),
    request(11_500, 100),
    request(12_000, 1_500, 0, 'write'),
    request(24_000, 500, 503),
    request(25_000, 600, 503),
  ];
  expect([drill.failed(), drill.failed(['hot'])]).toEqual(['1 write 0, 2 read 503', '']);
  expect(drill.failed(['read', 'write'], 503)).toBe('1 write 0');
  expect(drill.lastFailed()).toBe(15);
  expect([drill.lastSentThatFailed('began'), drill.lastSentThatFailed('ended')]).toEqual([14.4, 4.4]);
  expect([drill.slowest(), drill.slowest('read')]).toEqual([1.5, 0.6]);
  expect(drill.medians('read')).toEqual({ before: 0.04, during: 0.1 });
});

/** Starts a server with the task list `listed` and returns its URL. */
async function serving(listed: object[]): Promise<string> {
  const server = http.createServer((request, response) => {
    request.resume();
    response.writeHead(request.method === 'POST' ? 201 : 200).end(JSON.stringify(listed));
  });
  onTestFinished(() => cutOff(server));
  return `http://127.0.0.1:${await listening(server)}`;
}

test('underLoad() reports a lost task', async () => {
  const url = await serving([]);
  const stack = { urls: { tasks: url, expander: url, proxy: url }, shortener: url, settled: async () => {} };
  const lost = expect.arrayContaining([expect.stringMatching(/^rehearsal-/)]);
  await expect(underLoad(stack, async () => {})).rejects.toMatchObject({ actual: { duplicates: [], lost } });
});

test('settle() reports a duplicate task, but not a refused task', async () => {
  const listed = ['rehearsal-1 milk', 'rehearsal-1 bread', 'rehearsal-1 milk', 'milk'].map((title, i) => ({
    _id: `${i}`,
    title,
  }));
  const url = await serving(listed);
  const refused = { title: 'rehearsal-1 eggs', status: 503, right: false, at: 0, milliseconds: 1 };
  expect(await settle(url, 'rehearsal-1', [{ kind: 'write', ...refused }])).toEqual({
    lost: [],
    duplicates: ['rehearsal-1 milk'],
  });
});
