/**
 * Sets up the system's resolver for names that strangers choose, where a user starts a command. Call it before the first
 * lookup. The image, the native run and `npm start` do so for the service, because Node may start its threads before the
 * program runs.
 */
export function setUpResolver(): void {
  // Lookups use up to half of these threads; with Node's 4, two slow names would block all others.
  process.env.UV_THREADPOOL_SIZE ??= '128';
  // A name server that does not answer costs 2 s instead of 10 (resolv.conf(5)); a hop has 3 s.
  process.env.RES_OPTIONS ??= 'timeout:1 attempts:2';
}
