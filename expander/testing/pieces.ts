import fc from 'fast-check';

/** Splits a template into words. Backslashes are literal. */
export const words = (text: TemplateStringsArray) => String.raw(text).trim().split(/\s+/);

/** Generates text with any code points. fast-check's `binary` unit would take a second to build. */
export const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0x10ffff }).map((codePoint) => String.fromCodePoint(codePoint)),
  maxLength: 8,
});

/** Generates a random sequence of these pieces, with random text in between. */
export const mixed = (pieces: readonly string[], maxLength = 12) =>
  fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...pieces) },
        { weight: 1, arbitrary: anyText },
        { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
      ),
      { maxLength },
    )
    .map((parts) => parts.join(''));
