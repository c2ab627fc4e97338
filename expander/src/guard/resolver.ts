/**
 * Sets the system's resolver up for names that strangers choose. It reads its settings when the first name is looked
 * up, so this comes before. What the environment says already stays.
 */
export function setUpResolver(): void {
  // Look-ups take up to half of these threads; with Node's 4, two slow names would hold up all others.
  process.env.UV_THREADPOOL_SIZE ??= '128';
  // A name server that says nothing is given up on after 2 s rather than 10 (resolv.conf(5)): a hop has 3 s.
  process.env.RES_OPTIONS ??= 'timeout:1 attempts:2';
}
