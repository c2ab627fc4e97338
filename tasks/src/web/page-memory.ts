/** Bytes of a page at most, where it is to share memory with others: a hundred tasks with long titles. */
const size = 256 * 1024;

/** Pages whose memory is kept for later ones. */
const most = 64;

/** Tells when a response is closed: Node's `ServerResponse`. */
interface Outgoing {
  once(event: 'close', listener: () => void): unknown;
}

/** Puts the pieces of a page together, for the response that `outgoing` sends. */
export type Join = (pieces: readonly Buffer[], outgoing: Outgoing | undefined) => Buffer<ArrayBuffer>;

/**
 * Joins pages in memory that is used again: fresh memory for each page costs more than all else about it,
 * when it is touched first and when it is collected.
 */
export function pageMemory(): Join {
  const spare: Buffer<ArrayBuffer>[] = [];
  return (pieces, outgoing) => {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (!outgoing || length > size) return Buffer.concat(pieces);
    const memory = spare.pop() ?? Buffer.allocUnsafeSlow(size);
    // Until the response is closed (it was written, or its socket is gone), nobody else gets this memory.
    outgoing.once('close', () => {
      if (spare.length < most) spare.push(memory);
    });
    let end = 0;
    for (const piece of pieces) end += piece.copy(memory, end);
    return memory.subarray(0, end);
  };
}
