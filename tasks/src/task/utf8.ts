import { TaskError } from './errors.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** @throws TaskError `not_utf8` */
export function utf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new TaskError(
      'not_utf8',
      'This text is not UTF-8, so a part of it cannot be read (it shows as �).',
    );
  }
}
