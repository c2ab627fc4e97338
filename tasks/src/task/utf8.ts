import { TaskError } from './errors.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

export function notUtf8(): TaskError {
  return new TaskError('not_utf8', 'This text is not UTF-8. Please convert it first.');
}

/** Decodes UTF-8. @throws TaskError `not_utf8` */
export function utf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw notUtf8();
  }
}
