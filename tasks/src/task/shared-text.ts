// Another app shares text with the page "A new task". Without a connection, the list takes the text: browsers run this code, too.

/**
 * Returns the shared text on one line. Apps may put a link in any of the fields, and repeat the title in the text.
 *
 * @param field returns the value of a field of the manifest's `share_target`
 */
export function sharedText(field: (name: string) => string | null | undefined): string {
  return ['title', 'text', 'url']
    .map((name) => field(name) ?? '')
    .reduce(joined)
    .replace(/\s+/g, ' ')
    .trim();
}

/** Joins two texts with a space. If one contains the other, returns the longer one. */
function joined(text: string, part: string): string {
  if (part.includes(text)) return part;
  return text.includes(part) ? text : `${text} ${part}`;
}
