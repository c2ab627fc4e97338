const { PATH, NODE_COMPILE_CACHE } = process.env;

/**
 * What a program that a test starts has of this process's environment: where programs are, and where Node keeps
 * compiled code, with which a service starts in half the time.
 */
export const childEnvironment = { PATH, NODE_COMPILE_CACHE };
