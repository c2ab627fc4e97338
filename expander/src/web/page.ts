import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPieceQueue, type Piece } from '@longhand/shared/pieces.ts';
import { type LazyResponse, queryOf } from '@longhand/shared/routes.ts';
import { views } from '@longhand/shared/views.ts';
import type { Context } from 'hono';
import type { Expansion, Hop } from '../expansion/expansion.ts';
import type { ExpandRequest } from './api.ts';
import { linksIn } from './pasted.ts';
import { baseHeaders, noStore, reportError, unbuffered } from './responses.ts';
import { cut, describeHop, describeResult, documentTitle, tryAgain, urlParts } from './result.ts';

type Top = { u: string; from: string | null; typed: string } & Record<
  'begun' | 'mistyped' | 'proxied',
  boolean
>;

/** Max links of a pasted text that the page shows. */
const maxLinks = 100;

/**
 * Renders the browser page in chunks: first `top`, then each `hop`, and finally the result or error. Style and script are
 * inline, because every other path must return 404.
 */
export function createPage(onMissing?: (fault: Error) => void) {
  const folder = join(import.meta.dirname, '../../views');
  const render = views<Record<string, object>>(folder, onMissing);
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const [style, script, svg] = [read('page.css'), read('page.js'), read('icon.svg')];
  const icon = `data:image/svg+xml,${encodeURIComponent(svg.trim())}`;
  /** @param query for the footer's links to the API. @param requestId a failed request's ID, for the footer. */
  const last = (view: string, data: object, query: string | null = null, requestId: string | null = null) =>
    render(view, data) + render('foot', { script, query, requestId });
  return {
    headers: {
      ...baseHeaders,
      'Content-Security-Policy': [
        `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; img-src 'self' data:`,
        "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      ].join('; '),
      ...noStore,
      ...unbuffered,
    },
    /** Renders everything before the chain. `typed` is the visitor's text, `u` the URL found in it, `from` the parsed URL. */
    top: ({ u, from, ...state }: Top) =>
      render('top', {
        ...{ ...state, style, icon, documentTitle: documentTitle(from) },
        understood:
          state.typed === u ? null : { url: cut(u), exactly: `/?${query({ u: state.typed, exactly: '1' })}` },
      }),
    hop: (hops: readonly Hop[]) => render('hop', describeHop(hops)),
    intro: () => last('intro', {}),
    links: (urls: readonly string[]) => {
      const links = urls.slice(0, maxLinks).map((u) => ({ ...urlParts(u), href: `/?${query({ u })}` }));
      return last('links', { links, found: urls.length });
    },
    result: (u: string, expansion: Expansion, requestId?: string) => {
      const id = (expansion.error && requestId) ?? null;
      return last('result', describeResult(u, expansion), query({ u, follow: 'all' }), id);
    },
    fault: (u: string) => last('fault', { actions: { copy: null, links: [tryAgain(u)] } }),
  };
}

/**
 * `GET /`: the page. Hops of `u` are streamed as they arrive.
 *
 * An error before the first hop sets the status. A later error appears only in the page.
 */
export function showPage(
  expandRequest: ExpandRequest,
  page: ReturnType<typeof createPage>,
  onFault: (fault: unknown) => void,
) {
  return async (c: Context): Promise<LazyResponse> => {
    const query = queryOf(c);
    // Other apps share links in `url`, `text` or `title`, usually in `text`.
    const given = ['u', 'url', 'text', 'title'].map((name) => query.get(name)?.trim());
    const typed = given.find(Boolean) ?? '';
    const links = query.get('exactly') === undefined ? linksIn(typed) : [typed];
    // If there are several links, the page offers a choice.
    const link = links.length === 1 ? `${links}` : '';
    const requestId = c.req.header('x-request-id');
    const top = (from: string | null, state: { begun: boolean; mistyped: boolean }) =>
      page.top({ u: link || typed, typed, from, ...state, proxied: requestId !== undefined });
    const result = (expansion: Expansion) => page.result(link, expansion, requestId);

    // The request's signal stops the expansion if the client disconnects.
    const pieces = createPieceQueue();
    const skipped = (fault: unknown) => {
      onFault(fault);
      return '';
    };
    const begun = Promise.withResolvers<null>();
    const hops: Hop[] = [];
    const onHop = (hop: Hop) => {
      hops.push(hop);
      const shown = [...hops];
      if (hops.length === 1) pieces.push(() => top(hop.url, { begun: true, mistyped: false }));
      pieces.push(orElse(() => page.hop(shown), skipped));
      begun.resolve(null);
    };
    const expanding = expandRequest(c, {
      u: link,
      follow: 'all',
      again: query.get('again') !== undefined,
      onHop,
    });

    const ended = await Promise.race([begun.promise, expanding]);
    if (ended) {
      const { end, error, longUrl } = ended;
      const mistyped = error?.code === 'invalid_url' || error?.code === 'unsupported_scheme';
      const from = mistyped ? null : longUrl;
      const { status, headers } = reportError(c, error);
      const found = () => (links.length > 1 ? page.links(links) : page.intro());
      return {
        status,
        headers: { ...page.headers, ...headers },
        body: () => top(from, { begun: false, mistyped }) + (end.code === 'empty' ? found() : result(ended)),
      };
    }
    const failed = (fault: unknown) => {
      onFault(fault);
      return page.fault(link);
    };
    expanding
      .then((expansion) => pieces.push(orElse(() => result(expansion), failed)))
      .catch((fault) => pieces.push(() => failed(fault)))
      .then(() => pieces.end());
    return { headers: page.headers, body: pieces };
  };
}

/** Makes a piece of the page, or `otherwise` if that fails. */
function orElse(make: () => string, otherwise: (fault: unknown) => string): Piece {
  return () => {
    try {
      return make();
    } catch (fault) {
      return otherwise(fault);
    }
  };
}

function query(parameters: Record<string, string>): string {
  return new URLSearchParams(parameters).toString();
}

/** Returns the CSP source expression for an inline style or script. */
function hash(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
}
