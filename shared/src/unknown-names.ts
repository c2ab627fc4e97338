/** The names of one reader: those that begin with `prefix`, of which others read some. */
export interface OwnNames {
  prefix: string;
  others?: readonly string[];
}

/** A message for each name in `env` that begins with the prefix and that nobody reads: most likely it is misspelt. */
export function unknownNames(env: NodeJS.ProcessEnv, known: readonly string[], own: OwnNames): string[] {
  const names = Object.keys(env).filter((name) => name.startsWith(own.prefix) && env[name]);
  const unknown = names.filter((name) => !known.includes(name) && !own.others?.includes(name));
  return unknown.map((name) => `${name}: there is no such variable`);
}
