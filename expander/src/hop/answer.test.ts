import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { percentEncoded } from './fetch-hop.ts';
import { headReader } from './response-head.ts';

test('a location does not keep the head that it came in', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const filler = 'x'.repeat(15_000);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: 3_000 }, (_, i) => {
    const bytes = Buffer.from(
      `HTTP/1.1 301 Moved\r\nLocation: http://a.example/page/${i}\r\nX: ${filler}\r\n\r\n`,
    );
    return percentEncoded(headReader(16 * 1024)(bytes.toString('latin1'))?.head.headers.location);
  });
  collectGarbage();
  // The heads have 43 MiB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10 * 2 ** 20);
  expect(kept).toContain('http://a.example/page/2999');
});
