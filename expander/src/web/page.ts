import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { views } from '@longhand/shared/views.ts';
import type { Expansion, Hop } from '../expansion/expansion.ts';
import { baseHeaders, noStore, unbuffered } from './responses.ts';
import { cut, describeHop, describeResult, documentTitle, tryAgain, urlParts } from './result.ts';

export type Page = ReturnType<typeof createPage>;

type Top = { u: string; from: string | null; typed: string } & Record<
  'begun' | 'mistyped' | 'proxied',
  boolean
>;

/**
 * The browser page in pieces, in the order of sending: `top`, each `hop`, then one of the others. Reads `views/`. Style and
 * script are inline, because the specification wants 404 for every other path.
 */
export function createPage(onMissing?: (fault: Error) => void) {
  const folder = join(import.meta.dirname, '../../views');
  const render = views<Record<string, object>>(folder, onMissing);
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const [style, script, svg] = [read('page.css'), read('page.js'), read('icon.svg')];
  const icon = `data:image/svg+xml,${encodeURIComponent(svg.trim())}`;
  /** The footer: the query of the links to the API, and the id of a failed request. */
  const foot = { script, query: null as string | null, requestId: null as string | null };
  return {
    headers: {
      ...baseHeaders,
      'Content-Security-Policy': [
        "default-src 'none'",
        `style-src ${hash(style)}`,
        `script-src ${hash(script)}`,
        "img-src 'self' data:",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      ...noStore,
      ...unbuffered,
    },
    /** Everything up to the chain. `typed` was understood as `u`, and parsed as `from`. */
    top: ({ u, from, ...state }: Top) =>
      render('top', {
        ...{ ...state, style, icon, documentTitle: documentTitle(from) },
        understood:
          state.typed === u ? null : { url: cut(u), exactly: `/?${query({ u: state.typed, exactly: '1' })}` },
      }),
    hop: (hops: readonly Hop[]) => render('hop', describeHop(hops)),
    intro: () => render('intro', { foot }),
    links: (urls: readonly string[]) =>
      render('links', { links: urls.map((u) => ({ ...urlParts(u), href: `/?${query({ u })}` })), foot }),
    /** Everything after the chain; after an error with the id of the request. */
    result: (u: string, expansion: Expansion, requestId?: string) =>
      render('result', {
        ...describeResult(u, expansion),
        foot: {
          ...foot,
          query: query({ u, follow: 'all' }),
          requestId: (expansion.error && requestId) ?? null,
        },
      }),
    /** Replaces `result` after an unexpected error. */
    fault: (u: string) => render('fault', { actions: { copy: null, links: [tryAgain(u)] }, foot }),
  };
}

function query(parameters: Record<string, string>): string {
  return new URLSearchParams(parameters).toString();
}

/** The source expression that allows one inline block (Content Security Policy Level 3). */
function hash(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
}
