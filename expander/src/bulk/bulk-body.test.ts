import { describe, expect, test } from 'vitest';
import { createBodyReader, maxBulkSize } from './bulk-body.ts';

const post = (body: string | ReadableStream, headers = {}) =>
  new Request('http://a/', { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
const pieces = (...chunks: string[]) =>
  ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)));

/** A body that never ends. */
function endless(begun = '') {
  const { readable, writable } = new TextEncoderStream();
  const writer = writable.getWriter();
  writer.write(begun).catch(() => {});
  return { body: readable, breakOff: () => writer.abort(new Error('gone')) };
}

describe('the body of a request', () => {
  test('is read to its end', async () => {
    const read = createBodyReader();
    expect(await read(post('a\nü')).text).toBe('a\nü');
    expect(await read(post(pieces('http://a.', 'example/\n', 'b'))).text).toBe('http://a.example/\nb');
    expect(await read(new Request('http://a/', { method: 'POST' })).text).toBe('');
  });

  test('is no larger than 8 MB, whether it says so or not', async () => {
    const read = createBodyReader();
    const whole = 'x'.repeat(maxBulkSize);
    expect(await read(post(pieces(whole))).text).toHaveLength(maxBulkSize);
    const tooLarge = { status: 413, message: 'The body is larger than 8000000 bytes.' };
    await expect(read(post(pieces(whole, 'x'))).text).rejects.toMatchObject(tooLarge);
    const announced = post(endless().body, { 'Content-Length': `${maxBulkSize + 1}` });
    await expect(read(announced).text).rejects.toMatchObject(tooLarge);
  });

  test('that breaks off as its client goes away is aborted, and otherwise a fault of ours', async () => {
    for (const [leave, error] of [
      [true, { code: 'aborted' }],
      [false, { message: 'gone' }],
    ] as const) {
      const { body, breakOff } = endless('http://');
      const leaving = new AbortController();
      const request = { headers: new Headers(), body, signal: leaving.signal } as Request;
      const reading = createBodyReader()(request).text;
      if (leave) leaving.abort();
      breakOff();
      await expect(reading).rejects.toMatchObject(error);
    }
  });
});
