import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Eta } from 'eta';
import type { Expansion } from './expand.ts';
import { inert } from './headers.ts';

/** The browser page. */
export interface Page {
  headers: Record<string, string>;
  /** The page, with `expansion` of `u` written out where there is one. */
  render(u: string, expansion: Expansion | null): string;
}

/** Reads `views/`. Style and script stand in the page itself: every path but a page's own is a 404. */
export function createPage(): Page {
  const views = new URL('../views/', import.meta.url);
  const eta = new Eta({ views: views.pathname, cache: true, autoEscape: true });
  const style = readFileSync(new URL('page.css', views), 'utf8');
  return {
    headers: {
      ...inert,
      'Content-Security-Policy': [
        "default-src 'none'",
        `style-src ${hash(style)}`,
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      'Cache-Control': 'no-store',
    },
    render: (u, expansion) => eta.render('page', { u, expansion, style }),
  };
}

/** Allows one inline block by what it says (Content Security Policy Level 3). */
function hash(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
}
