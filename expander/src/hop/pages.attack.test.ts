import { expectSmallDelay } from '@longhand/shared/testing/attack.ts';
import { expect, test } from 'vitest';
import { expand, serviceOfTest } from '../../testing/process.ts';
import { website } from '../../testing/website.ts';

/** parse5 needs 8 ms to parse this. */
const costly = '<nobr>'.repeat(10_000);

test('slow-to-parse pages hardly delay other clients', async () => {
  const [attacked, quiet] = [await serviceOfTest(), await serviceOfTest()];
  let pages = 0;
  const hostile = await website((request, response) => {
    if (request.method === 'GET') pages += 1;
    const [, hop = '', id] = request.url?.split('/') ?? [];
    const next = `<meta http-equiv="refresh" content="0; url=/${Number(hop) + 1}/${id}">`;
    response.setHeader('Content-Type', 'text/html').end(next + costly);
  });
  // 20 ms is the latency of a typical website.
  const quick = await website((_, response) => void setTimeout(() => response.end(), 20));

  let links = 0;
  await expectSmallDelay(
    { attacked, quiet },
    (url) => expand(url, `${quick}/${links++}`, '192.0.2.2'),
    async (over, begun) => {
      const options = { follow: 'all', signal: over };
      let chains = 0;
      const attacker = async () => {
        while (!over.aborted) {
          await expand(attacked.url, `${hostile}/0/${chains++}`, '192.0.2.1', options);
          begun();
        }
      };
      await Promise.all(Array.from({ length: 30 }, attacker));
    },
  );
  expect(pages).toBeGreaterThan(100);
});
