const { PATH, NODE_COMPILE_CACHE } = process.env;

/** The environment of programs that tests start. Node's compile cache halves the start of a service. */
export const childEnvironment = { PATH, NODE_COMPILE_CACHE };
