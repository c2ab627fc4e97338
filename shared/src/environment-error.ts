/** The environment has variables that are invalid or unknown. The message names each in a line below the first. */
export class EnvironmentError extends Error {}

/** The exit code of a program that cannot start as it is configured (EX_CONFIG of sysexits.h). */
export const configurationExitCode = 78;
