/** Serializes `value` as ASCII JSON without "<", which could start markup or end a script. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
