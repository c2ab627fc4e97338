const { PATH, NODE_COMPILE_CACHE } = process.env;

/** The environment of programs that tests start. With Node's compile cache, a service starts in half the time. */
export const childEnvironment = { PATH, NODE_COMPILE_CACHE };
