const withoutComma = new Intl.ListFormat('en-GB');

/** Formats a list such as `a, b and c`. */
export const list = (parts: readonly string[]): string => withoutComma.format(parts);
