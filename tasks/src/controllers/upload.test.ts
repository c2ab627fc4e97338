import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { useService } from '../../testing/service.ts';
import type { Report } from '../task/import.ts';

const kept = useService();

test('An import ends with the 10 000th refused line; a client that sends much more gets the report all the same', async () => {
  const sending = http.request(`${kept.service.url}tasks/import`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  const sent = once(sending, 'finish');
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
  const block = 'no JSON\n'.repeat(7_500);
  sending.write('{"title":"milk"}\n');
  for (let count = 0; count < 32 * 1024 ** 2; count += block.length) {
    if (!sending.write(block)) await once(sending, 'drain');
  }
  sending.end();
  const [[response]] = await Promise.all([answered, sent]);
  expect(response.statusCode).toBe(422);
  const report = (await json(response)) as Report;
  expect(report).toMatchObject({ imported: 1, refused: 10_000, stopped: 10_002 });
  expect(report.problems).toHaveLength(101);
  expect(report.problems.at(-1)?.detail).toContain('the rest was not read');
});

test.each([
  ['a form', 'task', { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '1000' }],
  ['a form of unknown length', 'task', { 'Content-Type': 'application/x-www-form-urlencoded' }],
  ['JSON', 'tasks', { 'Content-Type': 'application/json', 'Content-Length': '1000' }],
  ['a file to import', 'tasks/import', { 'Content-Type': 'application/x-ndjson' }],
])(
  'a client that goes away while it sends %s is told in the log, and is no error',
  async (_, path, headers) => {
    const { log } = kept.service;
    log.splice(0);
    const request = http.request(`${kept.service.url}${path}`, {
      method: 'POST',
      headers: { ...headers, Expect: '100-continue' },
    });
    request.on('error', () => {});
    // By then the service waits for the body.
    request.on('continue', () => request.write('{"title":', () => request.destroy()));
    request.flushHeaders();
    const gone = () => log.filter(({ status }) => status === 499);
    await expect.poll(gone).toMatchObject([{ level: 'info', path: `/${path}` }]);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  },
);
