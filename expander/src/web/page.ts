import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPieceQueue, type Piece } from '@longhand/shared/pieces.ts';
import { type LazyResponse, queryOf } from '@longhand/shared/routes.ts';
import { views } from '@longhand/shared/views.ts';
import type { Context } from 'hono';
import { endedExpansion } from '../expansion/chain.ts';
import { ExpansionError } from '../expansion/errors.ts';
import type { Expansion, Hop } from '../expansion/expansion.ts';
import type { ExpandMessage, ExpandRequest } from './expand-request.ts';
import { describeMessage, describeRow, type MessageLink, maxLinks } from './message.ts';
import { linksIn } from './pasted.ts';
import { baseHeaders, noStore, reportError, unbuffered } from './responses.ts';
import { cut, describeHop, describeResult, documentTitle, tryAgain } from './result.ts';

type Top = { u: string; from: string | null; typed: string; found?: number } & Record<
  'begun' | 'mistyped' | 'proxied',
  boolean
>;

/**
 * Renders the browser page in chunks: first `top`, then each `hop`, and finally the result or error. Style and script are
 * inline, because every other path must return 404.
 */
export function createPage(onMissing?: (fault: Error) => void) {
  const folder = join(import.meta.dirname, '../../views');
  const render = views<Record<string, object>>(folder, onMissing);
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const style = read('page.css');
  const svg = read('icon.svg');
  const script = read('page.js') + read('recent.js');
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
    top: ({ u, from, found = 0, ...state }: Top) =>
      render('top', {
        ...{ ...state, found, style, icon, documentTitle: documentTitle(from) },
        understood:
          state.typed === u ? null : { url: cut(u), exactly: `/?${query({ u: state.typed, exactly: '1' })}` },
      }),
    hop: (hops: readonly Hop[]) => render('hop', describeHop(hops)),
    intro: () => last('intro', {}),
    row: (link: MessageLink) => render('message-row', describeRow(link)),
    message: (...message: Parameters<typeof describeMessage>) =>
      last('message', { ...describeMessage(...message), documentTitle: documentTitle() }),
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
  expandMessage: ExpandMessage,
  page: ReturnType<typeof createPage>,
  onFault: (fault: unknown) => void,
) {
  const showMessage = messagePage(expandMessage, page, onFault);
  return async (c: Context): Promise<LazyResponse> => {
    const query = queryOf(c);
    // Other apps share links in `url`, `text` or `title`, usually in `text`.
    const given = ['u', 'url', 'text', 'title'].map((name) => query.get(name)?.trim());
    const typed = given.find(Boolean) ?? '';
    const links = query.get('exactly') === undefined ? linksIn(typed) : [typed];
    if (links.length > 1) return showMessage(c, typed, links);
    const link = links.length === 1 ? `${links}` : '';
    const requestId = c.req.header('x-request-id');
    const top = (from: string | null, state: { begun: boolean; mistyped: boolean }) =>
      page.top({ u: link || typed, typed, from, ...state, proxied: requestId !== undefined });
    const result = (expansion: Expansion) => page.result(link, expansion, requestId);
    /** The page of an expansion that has ended before its first hop. */
    const endedPage = (ended: Expansion): LazyResponse => {
      const { end, error, longUrl } = ended;
      const mistyped = error?.code === 'invalid_url' || error?.code === 'unsupported_scheme';
      const from = mistyped ? null : longUrl;
      const { status, headers } = reportError(c, error);
      return {
        status,
        headers: { ...page.headers, ...headers },
        body: () =>
          top(from, { begun: false, mistyped }) + (end.code === 'empty' ? page.intro() : result(ended)),
      };
    };

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
    const again = query.get('again') !== undefined;
    const expanding = expandRequest(c, { u: link, follow: 'all', again, onHop });

    const ended = await Promise.race([begun.promise, expanding]);
    if (ended) return endedPage(ended);
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

/** The page of a message with several links: checks 20 of them at once, and streams their rows in order. */
function messagePage(
  expandMessage: ExpandMessage,
  page: ReturnType<typeof createPage>,
  onFault: (fault: unknown) => void,
) {
  return async (c: Context, text: string, found: readonly string[]): Promise<LazyResponse> => {
    const start = Number(queryOf(c).get('from'));
    const from = start > 0 && start < found.length ? Math.floor(start) : 0;
    const links = found.slice(from, from + maxLinks);
    const proxied = c.req.header('x-request-id') !== undefined;
    const state = { u: text, typed: text, from: null, mistyped: false, proxied };
    const expandAll = await expandMessage(c).catch((error) => {
      if (error instanceof ExpansionError) return error;
      throw error;
    });
    if (expandAll instanceof ExpansionError) {
      const refused = endedExpansion(text, expandAll);
      const { status, headers } = reportError(c, refused.error);
      const body = () => page.top({ ...state, begun: false }) + page.result(text, refused);
      return { status, headers: { ...page.headers, ...headers }, body };
    }
    const pieces = createPieceQueue();
    pieces.push(() => page.top({ ...state, begun: true, found: found.length }));
    const rows: MessageLink[] = [];
    let sent = 0;
    const onEach = (index: number, expansion: Expansion) => {
      rows[index] = { u: `${links[index]}`, expansion };
      for (let row = rows[sent]; row; row = rows[sent]) {
        const next = row;
        pieces.push(() => page.row(next));
        sent += 1;
      }
    };
    expandAll(links, onEach)
      .then(() => pieces.push(() => page.message(text, rows, { found, from })))
      .catch((fault) => {
        onFault(fault);
        pieces.push(() => page.fault(text));
      })
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
