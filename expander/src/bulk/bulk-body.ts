import { HTTPException } from 'hono/http-exception';
import { aborted, overloaded } from '../expansion/errors.ts';

/** Bytes of one body: 10 000 URLs of 800 bytes. */
export const maxBulkSize = 8_000_000;
/**
 * Bytes of all bodies that are being read or expanded: three of the largest. JSON beyond Latin-1 takes six times as
 * much once it is parsed, 140 MB of the 384 that docker-compose.yml gives the expander.
 */
const maxHeld = 3 * maxBulkSize;
/** Milliseconds that a body may take to arrive: the largest at 4.3 Mbit/s. */
const longest = 15_000;

export interface BulkBody {
  text: string;
  /** Makes room for others, once the text is done with, however that ended. Twice does no harm. */
  release(): void;
}

/** Takes the bodies of requests, a limited number of bytes at a time. */
export function bulkBodies({ max = maxHeld, time = longest } = {}) {
  let held = 0;

  /**
   * @throws HTTPException 413 where the body is too large, 408 where it takes too long.
   * @throws ExpansionError `overloaded` where there is no room for it, `aborted` where it breaks off.
   */
  return async (request: Request): Promise<BulkBody> => {
    if (Number(request.headers.get('content-length')) > maxBulkSize) throw tooLarge();
    // Memory is taken as it grows.
    const bytes = new Uint8Array(new ArrayBuffer(0, { maxByteLength: maxBulkSize }));
    let size = 0;
    const release = () => {
      held -= size;
      size = 0;
    };
    const take = (chunk: Uint8Array) => {
      if (size + chunk.length > maxBulkSize) throw tooLarge();
      if (held + chunk.length > max) throw overloaded('Too many lists of URLs are under way');
      bytes.buffer.resize(size + chunk.length);
      bytes.set(chunk, size);
      size += chunk.length;
      held += chunk.length;
    };
    try {
      // What is left of a body is the server's business, which has an answer to send.
      const options = { signal: AbortSignal.timeout(time), preventCancel: true };
      await request.body?.pipeTo(new WritableStream({ write: take }), options);
      return { text: new TextDecoder().decode(bytes), release };
    } catch (error) {
      release();
      throw request.signal.aborted ? aborted(error) : inWords(error);
    }
  };
}

function inWords(error: unknown): unknown {
  const late = error instanceof DOMException && error.name === 'TimeoutError';
  return late ? new HTTPException(408, { message: 'The body took too long to arrive.' }) : error;
}

function tooLarge(): HTTPException {
  return new HTTPException(413, { message: `The body is larger than ${maxBulkSize} bytes.` });
}
