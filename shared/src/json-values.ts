/** Checks whether JSON has more than `max` values. Parsing many small values could need many times the body's size in memory. */
export function hasMoreValues(json: string, max: number): boolean {
  let values = 0;
  let quoted = false;
  for (let i = 0; i < json.length && values <= max; i += 1) {
    // Comparing character codes is ten times faster than comparing strings.
    switch (json.charCodeAt(i)) {
      case 0x22: // "
        quoted = !quoted;
        break;
      case 0x5c: // \\
        if (quoted) i += 1;
        break;
      // Count the characters that precede a value.
      case 0x2c: // ,
      case 0x5b: // [
      case 0x7b: // {
        if (!quoted) values += 1;
    }
  }
  return values > max;
}
