/** Returns the encoding of a list that starts with these bytes: UTF-8, or UTF-16 after a byte order mark, as PowerShell writes it. */
function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** Decodes a list. Replaces malformed bytes with U+FFFD. */
export function decodeList(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}

/** Decodes a list as its bytes arrive. Replaces malformed bytes with U+FFFD. */
export async function* decodeListStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let start: Uint8Array = new Uint8Array();
  let decoder: TextDecoder | undefined;
  for await (const chunk of chunks) {
    if (decoder) {
      yield decoder.decode(chunk, { stream: true });
      continue;
    }
    start = Buffer.concat([start, chunk]);
    // A byte order mark of UTF-16 has two bytes.
    if (start.length < 2) continue;
    decoder = new TextDecoder(encodingOf(start));
    yield decoder.decode(start, { stream: true });
  }
  yield decoder ? decoder.decode() : decodeList(start);
}
