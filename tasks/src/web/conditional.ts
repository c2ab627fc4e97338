import type { TasksContext } from './context.ts';

/**
 * Whether the client already has the representation (RFC 9110 section 13.2.2): `If-None-Match` decides if it is given,
 * with the weak comparison, else `If-Modified-Since`.
 */
export function notModified(c: TasksContext, etag: string, modified?: Date): boolean {
  const known = c.req.header('if-none-match');
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  if (known !== undefined) {
    return known.trim() === '*' || known.split(',').some((tag) => opaque(tag) === opaque(etag));
  }
  if (!modified) return false;
  const since = Date.parse(c.req.header('if-modified-since') ?? '');
  return Math.floor(modified.getTime() / 1_000) * 1_000 <= since;
}
