/**
 * Settings of the system's resolver for names that strangers choose. The image, the native run and `npm start` set them
 * for the service, because Node may start its threads before the program runs.
 */
const resolverVariables = {
  /** Lookups use up to half of these threads; with Node's 4, two slow names would block all others. */
  UV_THREADPOOL_SIZE: '128',
  /** A name server that does not answer costs 2 s instead of 10 (resolv.conf(5)); a hop has 3 s. */
  RES_OPTIONS: 'timeout:1 attempts:2',
};

/** Sets them where they are missing, for a command that a user starts. Call it before the first lookup. */
export function setUpResolver(): void {
  for (const [name, value] of Object.entries(resolverVariables)) process.env[name] ??= value;
}
