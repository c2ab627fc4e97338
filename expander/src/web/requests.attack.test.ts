import http from 'node:http';
import { expectSmallDelay } from '@longhand/shared/testing/attack.ts';
import { expect, test } from 'vitest';
import { expand, serviceOfTest } from '../../testing/process.ts';
import { website } from '../../testing/website.ts';

/** Reads a response to the end, and returns the number of bytes. */
function read(url: string, client: string, signal: AbortSignal): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  http
    .get(url, { headers: { 'X-Forwarded-For': client }, signal })
    .on('response', (response) => {
      let bytes = 0;
      response.on('data', ({ length }: Buffer) => {
        bytes += length;
      });
      response.on('close', () => resolve(bytes)).on('error', () => {});
    })
    .on('error', () => resolve(0));
  return promise;
}

/** A query of 15 KB, in which a browser may break the line at each part. */
const parts = '&a'.repeat(7_500);

const links = (i: number) =>
  encodeURIComponent(
    Array.from({ length: 1_000 }, (_, n) => `t.co/${((n + i) % 1_296).toString(36)}`).join(' '),
  );

const paths: Record<string, (website: string, i: number) => string> = {
  'queries of stray percent signs': (_, i) => `api?u=${i}${'&%'.repeat(15_000)}`,
  'paths of bytes that are not UTF-8': (_, i) => `${i}${'%ff%'.repeat(7_500)}`,
  'pages of long chains of long URLs': (website, i) => `?u=${encodeURIComponent(`${website}/0/${i}?`)}`,
  'pages with 1,000 links': (_, i) => `?text=${links(i)}`,
};

test.each(Object.entries(paths))('%s for one client hardly delay other clients', async (_, path) => {
  const [attacked, quiet] = [await serviceOfTest(), await serviceOfTest()];
  const hostile = await website((request, response) => {
    const [, hop = '', id = ''] = request.url?.split(/[/?]/) ?? [];
    if (Number(hop) < 19)
      response.setHeader('Location', `/${Number(hop) + 1}/${id}?${parts}`).statusCode = 302;
    response.end();
  });
  // 20 ms is the latency of a typical website.
  const quick = await website((_, response) => void setTimeout(() => response.end(), 20));
  let expanded = 0;
  let bytes = 0;
  await expectSmallDelay(
    { attacked, quiet },
    (url) => expand(url, `${quick}/${expanded++}`, '192.0.2.2'),
    async (over, begun) => {
      let sent = 0;
      const attacker = async () => {
        while (!over.aborted) {
          bytes += await read(`${attacked.url}${path(hostile, sent++)}`, '192.0.2.1', over);
          begun();
        }
      };
      await Promise.all(Array.from({ length: 30 }, attacker));
    },
  );
  expect(bytes).toBeGreaterThan(0);
});
