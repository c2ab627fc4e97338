import { HTTPException } from 'hono/http-exception';
import { aborted, overloaded } from '../expansion/errors.ts';

/** Bytes of one body: 10 000 URLs of 800 bytes. */
export const maxBulkSize = 8_000_000;
/**
 * Bytes of all bodies that are being read or expanded: three of the largest. JSON beyond Latin-1 takes six times as
 * much once it is parsed, 140 MB of the 384 that docker-compose.yml gives the expander.
 */
const maxHeld = 3 * maxBulkSize;
/** Milliseconds in which a body must arrive: the largest at 4.3 Mbit/s. */
const timeout = 15_000;

/** Reads the bodies of requests, with a limit on the bytes of all together. */
export function createBodyReader({ max = maxHeld, time = timeout } = {}) {
  let held = 0;

  /**
   * @returns the text; `release` frees its memory for other bodies, and calling it twice does no harm.
   * @throws HTTPException 413 if the body is too large, 408 if it takes too long.
   * @throws ExpansionError `overloaded` if there is no memory for it, `aborted` if the client leaves.
   */
  return async (request: Request) => {
    if (Number(request.headers.get('content-length')) > maxBulkSize) throw tooLarge();
    // It grows with the body.
    const bytes = new Uint8Array(new ArrayBuffer(0, { maxByteLength: maxBulkSize }));
    let size = 0;
    const release = () => {
      held -= size;
      size = 0;
    };
    const append = (chunk: Uint8Array) => {
      if (size + chunk.length > maxBulkSize) throw tooLarge();
      if (held + chunk.length > max) throw overloaded('Too many lists of URLs are in progress');
      bytes.buffer.resize(size + chunk.length);
      bytes.set(chunk, size);
      size += chunk.length;
      held += chunk.length;
    };
    try {
      // The server reads the rest of a body that is refused, so that the client gets the response.
      const options = { signal: AbortSignal.timeout(time), preventCancel: true };
      await request.body?.pipeTo(new WritableStream({ write: append }), options);
      return { text: new TextDecoder().decode(bytes), release };
    } catch (error) {
      release();
      throw request.signal.aborted ? aborted(error) : asHttpError(error);
    }
  };
}

function asHttpError(error: unknown): unknown {
  const late = error instanceof DOMException && error.name === 'TimeoutError';
  return late ? new HTTPException(408, { message: 'The body took too long to arrive.' }) : error;
}

function tooLarge(): HTTPException {
  return new HTTPException(413, { message: `The body is larger than ${maxBulkSize} bytes.` });
}
