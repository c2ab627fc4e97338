const headTags = 'html head meta link title base script style noscript object'.split(' ');
const insideHead = new Set(headTags.flatMap((name) => [name, `/${name}`]));
insideHead.delete('/head');

/** Elements whose content is text. */
const texts = new Set(['script', 'style', 'title', 'noscript']);

/** Returns the number of bytes before the first tag that does not belong into a head. Chromium searches them for a charset. */
export function headLength(body: Buffer): number {
  const text = body.toString('latin1').toLowerCase();
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
    const [, name = ''] = /^<(!--|\/?[a-z][a-z\d]*)/.exec(text.slice(at, at + 12)) ?? [];
    if (name === '') continue;
    if (name !== '!--' && !insideHead.has(name)) return at;
    const end = text.indexOf(endOf(name), at);
    if (end === -1) break;
    at = end - 1;
  }
  return text.length;
}

/** Returns what ends the element or comment that begins with `name`. */
function endOf(name: string): string {
  if (name === '!--') return '-->';
  return texts.has(name) ? `</${name}` : '>';
}
