import { TaskError } from '../task/errors.ts';
import { limitedBody } from './body.ts';
import type { TasksContext } from './context.ts';

/** Bytes of the headers of a part, and of a field before the file. */
const maxField = 4 * 1024;

/** Fields before the file. Ours are two. */
const maxFields = 16;

/** Characters of a boundary (RFC 2046 section 5.1.1). The search for a longer one can take 75 ms for 64 KiB. */
const maxBoundary = 70;

export interface Upload {
  /** The fields before the file. */
  fields: Record<string, string>;
  /** The name of the file; empty where none was chosen. */
  name: string;
  file: AsyncGenerator<Uint8Array>;
}

/**
 * Reads a form with a file (`multipart/form-data`, RFC 7578) and hands it to `act` as it arrives: the file may be larger
 * than what a service should hold. What `act` does not read is dropped.
 *
 * @param maxBytes of the whole form
 * @throws TaskError `body_too_large` with `tooLarge`; `invalid_field` if it is not such a form
 */
export async function withUpload<Result>(
  c: TasksContext,
  maxBytes: number,
  tooLarge: string,
  act: (upload: Upload) => Promise<Result>,
): Promise<Result> {
  const chunks = limitedBody(c, maxBytes, tooLarge);
  try {
    return await act(await readUpload(c.req.header('content-type') ?? '', chunks));
  } finally {
    await chunks.return(undefined);
  }
}

async function readUpload(type: string, chunks: AsyncGenerator<Uint8Array>): Promise<Upload> {
  const [, quoted, plain] = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type) ?? [];
  const boundary = `${quoted ?? plain}`;
  if (boundary.length > maxBoundary) {
    throw new TaskError('invalid_field', `The boundary of a form has at most ${maxBoundary} characters.`);
  }
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const until = splitter(chunks);
  await text(until(delimiter));
  const fields: Record<string, string> = {};
  for (let count = 0; count <= maxFields; count += 1) {
    const head = await text(until(Buffer.from('\r\n\r\n')));
    const [, name] = /\bfilename="([^"]*)"/.exec(head) ?? [];
    if (name !== undefined) return { fields, name, file: until(delimiter) };
    const [, field = ''] = /\bname="([^"]*)"/.exec(head) ?? [];
    fields[field] = await text(until(delimiter));
  }
  throw new TaskError('invalid_field', `A form has at most ${maxFields} fields before its file.`);
}

/** Returns a function that yields what comes before `mark`, and leaves what comes after it to the next call. */
function splitter(chunks: AsyncGenerator<Uint8Array>) {
  // The first delimiter has no line break in front.
  let rest = Buffer.from('\r\n');
  return async function* (mark: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = rest.indexOf(mark);
      const before = rest.subarray(0, at < 0 ? Math.max(0, rest.length - mark.length + 1) : at);
      rest = rest.subarray(before.length + (at < 0 ? 0 : mark.length));
      if (before.length > 0) yield before;
      if (at >= 0) return;
      const { value } = await chunks.next();
      if (!value) throw new TaskError('invalid_field', 'This form ends before its file does.');
      rest = Buffer.concat([rest, value]);
    }
  };
}

async function text(pieces: AsyncGenerator<Buffer>): Promise<string> {
  let bytes = Buffer.alloc(0);
  for await (const piece of pieces) {
    bytes = Buffer.concat([bytes, piece]);
    if (bytes.length > maxField) throw new TaskError('invalid_field', 'A field before the file is too long.');
  }
  return bytes.toString();
}
