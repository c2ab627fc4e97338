/** Max bytes of a pasted list, as of a file. The page would stop for minutes while it showed a longer text. */
const maxBytes = 1024 ** 2;

const isTooLong = (text: string) => text.length > maxBytes || new Blob([text]).size > maxBytes;

/** Returns why the page does not accept the pasted text, or undefined. */
export function problemOfPaste(event: ClipboardEvent): string | undefined {
  const text = event.clipboardData?.getData('text/plain') ?? '';
  if (!isTooLong(text)) return undefined;
  const size = (text.length / maxBytes).toFixed(1);
  return `The pasted text is too long (${size} MiB). Paste at most 1 MiB at once, or import it as several files.`;
}
