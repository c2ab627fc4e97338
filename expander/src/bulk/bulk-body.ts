import { HTTPException } from 'hono/http-exception';
import { aborted, overloaded } from '../expansion/errors.ts';

/** Bytes of one body: 10 000 URLs of 800 bytes. */
const maxBulkSize = 8_000_000;
/**
 * Bytes of all bodies that are being read or expanded: three of the largest. JSON beyond Latin-1 takes six times as
 * much once it is parsed, 140 MB of the 384 that docker-compose.yml gives the expander.
 */
const maxHeld = 3 * maxBulkSize;

/** Reads request bodies, with a limit on their total size. */
export function createBodyReader() {
  let held = 0;

  /**
   * @returns the text, and `release`, which frees its memory for other bodies; call it once. The text rejects with
   *   HTTPException 413 if the body is too large, and with ExpansionError `overloaded` if there is no memory for it, or
   *   `aborted` if the client leaves.
   */
  return (request: Request) => {
    let size = 0;
    const read = async () => {
      // It grows with the body.
      const bytes = new Uint8Array(new ArrayBuffer(0, { maxByteLength: maxBulkSize }));
      for await (const chunk of request.body ?? []) {
        if (size + chunk.length > maxBulkSize) {
          throw new HTTPException(413, { message: `The body is larger than ${maxBulkSize} bytes.` });
        }
        if (held + chunk.length > maxHeld) throw overloaded('Too many lists of URLs are in progress');
        bytes.buffer.resize(size + chunk.length);
        bytes.set(chunk, size);
        size += chunk.length;
        held += chunk.length;
      }
      return new TextDecoder().decode(bytes);
    };
    const text = read().catch((error) => {
      throw request.signal.aborted ? aborted(error) : error;
    });
    const release = () => {
      held -= size;
    };
    return { text, release };
  };
}
