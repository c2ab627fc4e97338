import type { TasksContext } from './context.ts';

/** Whether the client already has the representation: `If-None-Match`, with the weak comparison (RFC 9110 13.1.2). */
export function notModified(c: TasksContext, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  const known = (c.req.header('if-none-match') ?? '').split(',').map(opaque);
  return known.includes('*') || known.includes(opaque(etag));
}
