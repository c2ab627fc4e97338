/** Whether JSON has more than `max` values at any depth: a parsed body may take many times its size. */
export function hasMoreValues(json: string, max: number): boolean {
  let values = 0;
  let quoted = false;
  for (let i = 0; i < json.length && values <= max; i += 1) {
    // By number: a string for each of eight million characters takes ten times as long.
    switch (json.charCodeAt(i)) {
      case 0x22: // "
        quoted = !quoted;
        break;
      case 0x5c: // \\
        if (quoted) i += 1;
        break;
      // A value follows a comma, or it is the first one of an array or object.
      case 0x2c: // ,
      case 0x5b: // [
      case 0x7b: // {
        if (!quoted) values += 1;
    }
  }
  return values > max;
}
