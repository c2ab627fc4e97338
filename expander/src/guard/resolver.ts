/**
 * What the system's resolver needs for names that strangers choose, as variables of the environment. The service has them
 * from who starts it (the image, the native run, `npm start`): Node may have started its threads before its program runs.
 */
const resolverVariables = {
  /** Lookups use up to half of these threads; with Node's 4, two slow names would block all others. */
  UV_THREADPOOL_SIZE: '128',
  /** A name server that does not answer costs 2 s instead of 10 (resolv.conf(5)); a hop has 3 s. */
  RES_OPTIONS: 'timeout:1 attempts:2',
};

/** Sets those that are not set, for a program that nothing starts but a user. Call it before the first lookup. */
export function setUpResolver(): void {
  for (const [name, value] of Object.entries(resolverVariables)) process.env[name] ??= value;
}
