/** Control characters (C0, DEL, C1), bidi controls, and Unicode's two line separators. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to match.
export const controls = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Escapes characters that could control a terminal, break the line, or reorder its text, as `\uXXXX`. `text` must be one
 * line without its line break.
 */
export function escapeControls(text: string): string {
  return text.replace(controls, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
