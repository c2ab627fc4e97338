import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Eta } from 'eta';
import type { Expansion, Hop } from '../expansion/expansion.ts';
import { describeHost, type UnicodeHost } from '../expansion/host.ts';
import { parseUrl } from '../expansion/parse-url.ts';
import { journey } from './journey.ts';
import { baseHeaders } from './responses.ts';
import { withoutTracking } from './tracking-parameters.ts';
import { advice, duration, explanation, headline, list, openEnd, statusInWords, summary } from './wording.ts';

export type Page = ReturnType<typeof createPage>;

/**
 * The browser page in pieces, as they are sent: `top`, each `hop` as it is made, `bottom`. Reads `views/`. Style and script
 * are inline: the specification answers every other path with 404.
 */
export function createPage() {
  const views = join(import.meta.dirname, '../../views');
  const eta = new Eta({ views, cache: true, autoEscape: true });
  const style = readFileSync(join(views, 'page.css'), 'utf8');
  const script = readFileSync(join(views, 'page.js'), 'utf8');
  const icon = `data:image/svg+xml,${encodeURIComponent(readFileSync(join(views, 'icon.svg'), 'utf8').trim())}`;
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
      'Cache-Control': 'no-store',
      // nginx passes each hop on at once.
      'X-Accel-Buffering': 'no',
    },
    /** The form with `u` in it, up to the chain. */
    top: (u: string, state: { begun: boolean; mistyped: boolean }) =>
      eta.render('top', { u, ...state, style, icon }),
    hop: (hop: Hop) =>
      eta.render('hop', {
        hop,
        words: statusInWords(hop.status ?? 0),
        duration: duration(hop.milliseconds),
        host: hostInWords(hop),
      }),
    /** The answer, from the end of the chain; if that is an error, with the id of the request. */
    bottom: (u: string, expansion: Expansion, requestId?: string) =>
      eta.render('bottom', {
        u,
        ...describeAnswer(expansion),
        script,
        query: query({ u, follow: 'all' }),
        requestId: expansion.error && requestId,
      }),
    /** Replaces `bottom` after a fault of ours. */
    fault: '</ol></section><h2 slot="answer">Something went wrong here.</h2>',
  };
}

/** Ends whose URL people may want to open. */
const worthOpening = new Set(['final', 'max_redirects', 'no_location', 'request_failed', 'timeout']);

/** What `bottom` shows of an expansion. */
function describeAnswer(expansion: Expansion) {
  const { hops, longUrl, end } = expansion;
  const begun = hops.length > 0;
  const destination = begun ? (end.target ?? longUrl) : null;
  const url = parseUrl(destination ?? '');
  const open = destination !== null && worthOpening.has(end.code) && /^https?:/i.test(destination);
  const tracking = open ? withoutTracking(destination) : null;
  const reason = openEnd(expansion);
  const words = { headline: headline(expansion), explanation: explanation(expansion) };
  return {
    ...words,
    begun,
    destination,
    host: url ? hostInWords(describeHost(url)) : {},
    open,
    advice: advice(expansion),
    journey: journey(expansion),
    summary: begun ? summary(expansion) : '',
    stop: reason && { url: destination, reason },
    onward: end.code === 'max_redirects' && longUrl && `/?${query({ u: longUrl })}`,
    tracking: tracking?.parameters.length ? tracking : null,
    announcement: open
      ? `${words.headline} ${url?.host}. ${summary(expansion)}`
      : `${words.headline}. ${words.explanation}`,
  };
}

/** What `host.eta` shows of a host. */
function hostInWords({ unicodeHost, mixedScripts }: UnicodeHost) {
  const scripts = list(mixedScripts.map((script) => (script === 'Other' ? 'another script' : script)));
  return { unicodeHost, scripts };
}

function query(parameters: Record<string, string>): string {
  return new URLSearchParams(parameters).toString();
}

/** The source expression that allows one inline block (Content Security Policy Level 3). */
function hash(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
}
