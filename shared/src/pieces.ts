/** Makes a piece of a streamed body. */
export type Piece = () => string | Uint8Array<ArrayBuffer>;

/** The pieces of a streamed body, in order. `return` is called if the client disconnects. */
export type Pieces = AsyncIterator<Piece, undefined>;

export type PieceQueue = ReturnType<typeof createPieceQueue>;

/**
 * Creates a queue of pieces that wait until the client takes them. Ignores pieces after the end.
 *
 * @param onCancel called if the client disconnects
 */
export function createPieceQueue(onCancel = () => {}) {
  const pieces: Piece[] = [];
  let ended: { error?: unknown } | undefined;
  let wake = () => {};
  const end = (error?: unknown) => {
    ended ??= error === undefined ? {} : { error };
    wake();
  };
  return {
    /** Number of waiting pieces. */
    get length() {
      return pieces.length;
    },
    push(piece: Piece): void {
      if (ended) return;
      pieces.push(piece);
      wake();
    },
    /** Ends the body after the waiting pieces. With an error, cuts the response. */
    end,
    async next(): Promise<IteratorResult<Piece, undefined>> {
      while (pieces.length === 0 && !ended) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const value = pieces.shift();
      if (value) return { done: false, value };
      if (ended && 'error' in ended) throw ended.error;
      return { done: true, value: undefined };
    },
    async return(): Promise<IteratorResult<Piece, undefined>> {
      pieces.length = 0;
      end();
      onCancel();
      return { done: true, value: undefined };
    },
  };
}
