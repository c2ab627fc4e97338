import type { Expansion } from './expand.ts';

const minute = 60;
const day = 24 * 60 * minute;

/** Seconds for which an expansion may be remembered, here and by clients; 0 where it must not be. */
export function lifetime({ error, hops }: Expansion): number {
  if (error) return error.code === 'overloaded' || error.code === 'aborted' ? 0 : 30;
  const redirects = hops.filter(({ status }) => status >= 300 && status < 400);
  const permanent = redirects.every(({ status }) => status === 301 || status === 308);
  return redirects.length > 0 && permanent ? day : 10 * minute;
}
