import { HTTPException } from 'hono/http-exception';
import { aborted, overloaded } from '../expansion/errors.ts';

/** Maximum bytes per body: 10,000 URLs of 800 bytes. */
const maxBulkSize = 8_000_000;
/** Maximum bytes of all bodies in progress. Parsed JSON needs up to six times as much memory (140 MB of 384 MB). */
const maxHeld = 3 * maxBulkSize;

/** Reads request bodies and limits their total size. */
export function createBodyReader() {
  let held = 0;

  /**
   * @returns `text`, and `release`, which must be called once to free the memory. `text` rejects with HTTPException 413 if the
   *   body is too large, or with ExpansionError `overloaded` (no free memory) or `aborted` (the client disconnected).
   */
  return (request: Request) => {
    let size = 0;
    const read = async () => {
      const bytes = new Uint8Array(new ArrayBuffer(0, { maxByteLength: maxBulkSize }));
      for await (const chunk of request.body ?? []) {
        if (size + chunk.length > maxBulkSize) {
          throw new HTTPException(413, { message: `The body is larger than ${maxBulkSize} bytes.` });
        }
        if (held + chunk.length > maxHeld) throw overloaded('Too many URL lists are in progress');
        bytes.buffer.resize(size + chunk.length);
        bytes.set(chunk, size);
        size += chunk.length;
        held += chunk.length;
      }
      return new TextDecoder().decode(bytes);
    };
    return {
      text: read().catch((error) => {
        throw request.signal.aborted ? aborted(error) : error;
      }),
      release() {
        held -= size;
      },
    };
  };
}
