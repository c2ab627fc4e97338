import fc from 'fast-check';

/** The words of a text, with its backslashes as they are. */
export const words = (text: TemplateStringsArray) => String.raw(text).trim().split(/\s+/);

/** Pieces that matter, in any order, with random text between them. */
export const mixed = (pieces: readonly string[], maxLength = 12) =>
  fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...pieces) },
        { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
        { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
      ),
      { maxLength },
    )
    .map((parts) => parts.join(''));
