const { PATH, NODE_COMPILE_CACHE } = process.env;

/** The environment for programs that tests start. Node's compile cache halves the startup time of a service. */
export const childEnvironment = { PATH, NODE_COMPILE_CACHE };
