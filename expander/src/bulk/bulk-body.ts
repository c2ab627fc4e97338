import { HTTPException } from 'hono/http-exception';
import { aborted, overloaded } from '../expansion/errors.ts';
import { createCounts } from '../expansion/expansion.ts';

/** Maximum bytes per body: 10,000 URLs of 800 bytes. */
const maxBulkSize = 8_000_000;
/**
 * Maximum bytes of all lists in progress. Each client may hold a quarter, so that no client can take the others' memory. The
 * process then needs up to 290 MB of the container's 384 MB.
 */
const maxHeld = 4 * maxBulkSize;

/** Creates readers of request bodies, which limit the memory of all lists and of each client. */
export function createBodyReaders() {
  const held = createCounts();

  /**
   * @returns `read`, and `keep`, which sets the number of bytes that the list still holds: fewer and fewer, and finally 0.
   *   `read` rejects with HTTPException 413 if the body is too large, or with ExpansionError `overloaded` (no free memory) or
   *   `aborted` (the client disconnected).
   */
  return (request: Request, client: string) => {
    let size = 0;
    const keep = (bytes: number) => {
      for (const name of ['all', client]) held.add(name, bytes - size);
      size = bytes;
    };
    const add = (bytes: Uint8Array<ArrayBuffer>, chunk: Uint8Array) => {
      const { length } = bytes;
      if (length + chunk.length > maxBulkSize) {
        throw new HTTPException(413, { message: `The body is larger than ${maxBulkSize} bytes.` });
      }
      keep(length + chunk.length);
      if (held.count(client) > maxHeld / 4 || held.count('all') > maxHeld) {
        throw overloaded('Too many URL lists are in progress');
      }
      bytes.buffer.resize(size);
      bytes.set(chunk, length);
    };
    const read = async () => {
      const bytes = new Uint8Array(new ArrayBuffer(0, { maxByteLength: maxBulkSize }));
      try {
        // Cancelling the body would close the connection before the response.
        for await (const chunk of request.body?.values({ preventCancel: true }) ?? []) add(bytes, chunk);
      } catch (error) {
        throw request.signal.aborted ? aborted(error) : error;
      }
      return bytes;
    };
    return { read, keep };
  };
}
