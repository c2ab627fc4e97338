import { TaskError } from '../task/errors.ts';
import type { TasksContext } from './context.ts';

/** Bytes of a form: far more than the longest title, percent-encoded, needs. */
const maxForm = 64 * 1024;

/**
 * The body of a form or of JSON.
 *
 * @throws TaskError `body_too_large`
 */
export async function readBody(c: TasksContext): Promise<Buffer> {
  return Buffer.concat(
    await Array.fromAsync(limitedBody(c, maxForm, `This is more than ${maxForm / 1024} KiB.`)),
  );
}

/**
 * The chunks of the body, of at most `maxBytes` together. A length that is announced is checked at once.
 *
 * @throws TaskError `body_too_large` with `message`
 */
export function limitedBody(c: TasksContext, maxBytes: number, message: string): AsyncGenerator<Uint8Array> {
  const tooLarge = () => new TaskError('body_too_large', message);
  if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw tooLarge();
  return (async function* () {
    let size = 0;
    for await (const chunk of c.req.raw.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      yield chunk;
    }
  })();
}
