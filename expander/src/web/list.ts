/** Formats a list such as `a, b and c`. `Intl.ListFormat` would add 13 ms to the start of the command. */
export function list(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${last}` : last;
}
