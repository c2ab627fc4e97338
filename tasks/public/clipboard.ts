/** Maximum bytes of a list, as of a file. The page would stop for minutes while it showed a longer text. */
const maxBytes = 1024 ** 2;

/** Returns why the page does not accept the pasted text, or undefined. Text is added to the list that the page shows. */
export function problemOfPaste({ clipboardData, target }: ClipboardEvent): string | undefined {
  const { size } = new Blob([keptBeside(target), clipboardData?.getData('text/plain') ?? '']);
  if (size <= maxBytes) return undefined;
  const shown = (Math.ceil((10 * size) / maxBytes) / 10).toFixed(1);
  return `This text is too long (${shown} MiB). Add at most 1 MiB at once, or import it as several files.`;
}

/** Characters that Chromium pastes at once. It takes 42 s for 4,000 lines. */
const maxNative = 10_000;

/** Pastes a long text into the field of a list. Returns whether it has. */
export function pasteLong(event: ClipboardEvent): boolean {
  const field = event.target as HTMLTextAreaElement;
  const text = event.clipboardData?.getData('text/plain') ?? '';
  if (field.name !== 'text' || text.length <= maxNative) return false;
  event.preventDefault();
  field.setRangeText(text, field.selectionStart, field.selectionEnd, 'end');
  field.dispatchEvent(new Event('input', { bubbles: true }));
  return true;
}

/** The text of the list that a paste into `target` does not replace. */
function keptBeside(target: EventTarget | null) {
  const field = document.querySelector<HTMLTextAreaElement>('[name=text]');
  if (!field || field !== target) return field?.value ?? '';
  return field.value.slice(0, field.selectionStart) + field.value.slice(field.selectionEnd);
}
