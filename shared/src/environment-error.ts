/** The environment has invalid or unknown variables. The message lists them after its first line, one per line. */
export class EnvironmentError extends Error {}

/** The exit code for an invalid configuration (EX_CONFIG of sysexits.h). */
export const configurationExitCode = 78;

/** A program's own variables begin with `prefix`. Other programs read `others`. */
export interface OwnNames {
  prefix: string;
  others?: readonly string[];
}

/** A message for each name in `env` that has the prefix but that no program reads: probably a typo. */
export function unknownNames(env: NodeJS.ProcessEnv, known: readonly string[], own: OwnNames): string[] {
  const names = Object.keys(env).filter((name) => name.startsWith(own.prefix) && env[name]);
  const unknown = names.filter((name) => !known.includes(name) && !own.others?.includes(name));
  return unknown.map((name) => `${name}: there is no such variable`);
}
