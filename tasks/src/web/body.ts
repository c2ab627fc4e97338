import { Refusal } from '../task/errors.ts';
import type { TasksContext } from './context.ts';

/** Bytes of a form: far more than the longest title, percent-encoded, needs. */
const maxForm = 64 * 1024;

/**
 * The body of a form or of JSON, as it came.
 *
 * @throws Refusal `body_too_large`
 */
export async function readBody(c: TasksContext): Promise<Buffer> {
  const length = c.req.header('content-length');
  // With its length announced (and no other coding, RFC 9112 section 6.3) a body needs no stream to be read.
  if (length !== undefined && c.req.header('transfer-encoding') === undefined) {
    if (Number(length) > maxForm) throw tooLarge();
    return Buffer.from(await c.req.arrayBuffer());
  }
  return Buffer.concat(await Array.fromAsync(bounded(c.req.raw.body, maxForm, tooLarge)));
}

/** The pieces of a body whose length is not known beforehand; beyond `most` bytes, the error of `tooLarge`. */
export async function* bounded(
  body: ReadableStream<Uint8Array> | null,
  most: number,
  tooLarge: () => Error,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > most) throw tooLarge();
    yield chunk;
  }
}

function tooLarge(): Refusal {
  return new Refusal('body_too_large', `This is more than ${maxForm / 1024} KiB, so it was not read.`);
}
