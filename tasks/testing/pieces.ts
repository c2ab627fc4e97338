/** `text` in pieces of three bytes, which part lines and characters anywhere. */
export const inPieces = (text: string) => {
  const bytes = new TextEncoder().encode(text);
  return ReadableStream.from(
    Array.from({ length: Math.ceil(bytes.length / 3) }, (_, i) => bytes.slice(3 * i, 3 * i + 3)),
  );
};
