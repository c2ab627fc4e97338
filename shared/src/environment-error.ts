/** Thrown for invalid or unknown environment variables. The message is a heading and one line for each variable. */
export class EnvironmentError extends Error {}

/** Exit code for an invalid configuration (EX_CONFIG in sysexits.h). */
export const configurationExitCode = 78;

/** Prefix of a program's variables. `others` lists variables with the same prefix that other programs use. */
export interface OwnNames {
  prefix: string;
  others?: readonly string[];
}

/** Returns a message for each unknown variable in `env` that has the prefix of `own`. An unknown name is probably a typo. */
export function unknownNames(env: NodeJS.ProcessEnv, known: readonly string[], own: OwnNames): string[] {
  const names = Object.keys(env).filter((name) => name.startsWith(own.prefix) && env[name]);
  const unknown = names.filter((name) => !known.includes(name) && !own.others?.includes(name));
  return unknown.map((name) => `${name}: unknown variable`);
}
