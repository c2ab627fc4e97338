/** Returns a copy of a plain `object` without the fields in `names`. */
export function omit<T extends object, Name extends keyof T & string>(
  object: T,
  names: ReadonlySet<Name>,
): Omit<T, Name> {
  const kept: Record<string, unknown> = {};
  // Twice as fast as `Object.entries`.
  for (const name in object) {
    if (!names.has(name as never)) kept[name] = object[name];
  }
  return kept as Omit<T, Name>;
}
