import { TaskError } from '../task/errors.ts';
import type { TasksContext } from './context.ts';

/** Bytes of a form: far more than the longest title, percent-encoded, needs. */
const maxForm = 64 * 1024;

const tooLargeForm = `This is too long: the limit is ${maxForm / 1024} KiB.`;

/**
 * The body of a form or of JSON. One whose length is announced is read without a web stream, which would double what a
 * write costs.
 *
 * @throws TaskError `body_too_large`
 */
export async function readBody(c: TasksContext): Promise<Buffer> {
  if (c.req.header('content-length') === undefined) {
    return Buffer.concat(await Array.fromAsync(limitedBody(c, maxForm, tooLargeForm)));
  }
  requireLength(c, maxForm, tooLargeForm);
  return Buffer.from(await c.req.raw.arrayBuffer());
}

/**
 * The chunks of the body, of at most `maxBytes` together. A length that is announced is checked at once. If the caller
 * stops early, the rest is read and dropped: a client, or a proxy, that cannot send it may never look at the response.
 *
 * @throws TaskError `body_too_large` with `message`
 */
export function limitedBody(c: TasksContext, maxBytes: number, message: string): AsyncGenerator<Uint8Array> {
  requireLength(c, maxBytes, message);
  const chunks = c.req.raw.body?.values({ preventCancel: true });
  let size = 0;
  const read = async () => {
    const { value } = (await chunks?.next()) ?? {};
    size += value?.length ?? 0;
    return value;
  };
  return (async function* () {
    try {
      for (let chunk = await read(); chunk; chunk = await read()) {
        if (size > maxBytes) throw new TaskError('body_too_large', message);
        yield chunk;
      }
    } finally {
      while (size <= maxBytes && (await read()));
    }
  })();
}

/** @throws TaskError `body_too_large` where more than `maxBytes` are announced. */
function requireLength(c: TasksContext, maxBytes: number, message: string): void {
  if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw new TaskError('body_too_large', message);
}
