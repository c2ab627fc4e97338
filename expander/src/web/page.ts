import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { views } from '@longhand/shared/views.ts';
import type { Expansion, Hop } from '../expansion/expansion.ts';
import { describeAnswer, documentTitle, hostInWords, newSite, requestFacts, tryAgain } from './answer.ts';
import { baseHeaders, noStore, unbuffered } from './responses.ts';
import { duration, statusInWords } from './wording.ts';

export type Page = ReturnType<typeof createPage>;

/** Each is rendered in one place, from what it shows. */
type Views = Record<'top' | 'hop' | 'fault' | 'bottom', object>;

/**
 * The browser page in pieces, as they are sent: `top`, each `hop` as it is made, `bottom`. Reads `views/`. Style and script
 * are inline: the specification answers every other path with 404.
 */
export function createPage(onMissing?: (fault: Error) => void) {
  const folder = join(import.meta.dirname, '../../views');
  const render = views<Views>(folder, onMissing);
  const style = readFileSync(join(folder, 'page.css'), 'utf8');
  const script = readFileSync(join(folder, 'page.js'), 'utf8');
  const icon = `data:image/svg+xml,${encodeURIComponent(readFileSync(join(folder, 'icon.svg'), 'utf8').trim())}`;
  return {
    headers: {
      ...baseHeaders,
      'Content-Security-Policy': [
        "default-src 'none'",
        `style-src ${hash(style)}`,
        `script-src ${hash(script)}`,
        'img-src data:',
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      ...noStore,
      ...unbuffered,
    },
    /** The form with what was typed in it, up to the chain. `u` was understood, and `from` is it as a URL. */
    top: (
      { u, typed }: { u: string; typed: string },
      from: string | null,
      state: { begun: boolean; mistyped: boolean },
    ) =>
      render('top', {
        typed,
        /** What was understood, and where to have it as it was typed. */
        understood: typed === u ? null : { url: cut(u), exactly: `/?${query({ u: typed, exactly: '1' })}` },
        ...{ ...state, documentTitle: documentTitle(from), style, icon },
      }),
    hop: (hop: Hop) =>
      render('hop', {
        hop,
        words: statusInWords(hop.status ?? 0),
        duration: duration(hop.milliseconds),
        newSite: newSite(hop),
        facts: requestFacts(hop),
        host: hostInWords(hop),
      }),
    /** The answer, from the end of the chain; if that is an error, with the id of the request. */
    bottom: (u: string, expansion: Expansion, requestId?: string) =>
      render('bottom', {
        u,
        ...describeAnswer(u, expansion),
        script,
        query: query({ u, follow: 'all' }),
        requestId: (expansion.error && requestId) ?? null,
      }),
    /** Replaces `bottom` after an unexpected error. */
    fault: (u: string) => render('fault', { actions: tryAgain(u) }),
  };
}

/** The beginning of a URL, which the chain shows whole. */
const cut = (url: string) => (url.length > 120 ? `${url.slice(0, 120)}…` : url);

function query(parameters: Record<string, string>): string {
  return new URLSearchParams(parameters).toString();
}

/** The source expression that allows one inline block (Content Security Policy Level 3). */
function hash(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
}
