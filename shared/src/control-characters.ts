/** C0, DEL and C1, the bidi controls, and Unicode's two line separators. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for these.
export const controls = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Escapes characters that control a terminal, or reorder or break a line, as `\uXXXX`. `text` is one line without its line
 * ending.
 */
export function escapeControls(text: string): string {
  return text.replace(controls, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
