import { type LazyResponse, queryOf } from '@longhand/shared/routes.ts';
import type { TasksContext } from './context.ts';
import { respond } from './responses.ts';

/** Responds with a favicon that shows the number of open tasks (`open`), or redirects to the plain icon at `none`. */
export function respondIcon(c: TasksContext, none: string): LazyResponse {
  const open = Number(queryOf(c).get('open'));
  if (!(open >= 1)) return respond(c, null, 302, { Location: none });
  const text = open > 99 ? '99+' : Math.floor(open);
  const size = open > 99 ? 15 : 20;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2f5d50"/><text x="16" y="16" dy=".36em" font-family="sans-serif" font-weight="700" font-size="${size}" text-anchor="middle" fill="#fff">${text}</text></svg>`;
  const forever = { 'Cache-Control': 'public, max-age=31536000, immutable' };
  return respond(c, () => svg, 200, { 'Content-Type': 'image/svg+xml', ...forever });
}
