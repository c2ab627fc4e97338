import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { views } from '@longhand/shared/views.ts';
import type { Expansion, Hop } from '../expansion/expansion.ts';
import { describeHost, type UnicodeHost } from '../expansion/host.ts';
import { parseUrl } from '../expansion/parse-url.ts';
import { journey } from './journey.ts';
import { baseHeaders } from './responses.ts';
import { type TrackingParameter, withoutTracking } from './tracking-parameters.ts';
import {
  advice,
  duration,
  explanation,
  headline,
  list,
  openEnd,
  statusInWords,
  summary,
  works,
} from './wording.ts';

export type Page = ReturnType<typeof createPage>;

/** What each view shows. */
interface Views {
  top: { u: string; begun: boolean; mistyped: boolean; style: string; icon: string };
  hop: { hop: Hop; words: string; duration: string; host: HostInWords };
  bottom: AnswerInWords & { u: string; query: string; script: string; requestId: string | null };
}

interface HostInWords {
  unicodeHost: string | null;
  /** The scripts that it mixes; empty if it does not. */
  scripts: string;
}

/** What `bottom` shows of an expansion. What is null or empty has no place in the page. */
interface AnswerInWords {
  begun: boolean;
  headline: string;
  destination: string | null;
  host: HostInWords | null;
  /** The label of the link to the destination. */
  open: string | null;
  sentences: string;
  advice: string | null;
  /** The last URL of the chain, if it has no answer, and why. */
  stop: { url: string; reason: string } | null;
  /** Where the page follows the chain on. */
  onward: string | null;
  tracking: { cleaned: string; parameters: TrackingParameter[] } | null;
  announcement: string;
}

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
      'Cache-Control': 'no-store',
      // nginx passes each hop on at once.
      'X-Accel-Buffering': 'no',
    },
    /** The form with `u` in it, up to the chain. */
    top: (u: string, state: { begun: boolean; mistyped: boolean }) =>
      render('top', { u, ...state, style, icon }),
    hop: (hop: Hop) =>
      render('hop', {
        hop,
        words: statusInWords(hop.status ?? 0),
        duration: duration(hop.milliseconds),
        host: hostInWords(hop),
      }),
    /** The answer, from the end of the chain; if that is an error, with the id of the request. */
    bottom: (u: string, expansion: Expansion, requestId?: string) =>
      render('bottom', {
        u,
        ...describeAnswer(expansion),
        script,
        query: query({ u, follow: 'all' }),
        requestId: (expansion.error && requestId) ?? null,
      }),
    /** Replaces `bottom` after an unexpected error. */
    fault: '</ol></section><h2 slot="answer">Something went wrong here.</h2>',
  };
}

/** Ends whose URL a visitor may want to open. */
const worthOpening = new Set(['final', 'max_redirects', 'no_location', 'request_failed', 'timeout']);

function describeAnswer(expansion: Expansion): AnswerInWords {
  const { hops, longUrl, end } = expansion;
  const begun = hops.length > 0;
  const destination = begun ? (end.target ?? longUrl) : null;
  const url = parseUrl(destination ?? '');
  const opens = destination !== null && worthOpening.has(end.code) && /^https?:/i.test(destination);
  const tracking = opens ? withoutTracking(destination) : null;
  const reason = openEnd(expansion);
  const heading = headline(expansion);
  const why = explanation(expansion);
  const how = begun ? summary(expansion) : '';
  return {
    begun,
    headline: heading,
    destination,
    host: url && hostInWords(describeHost(url)),
    open: opens ? (works(expansion) ? 'Open it' : 'Open anyway') : null,
    sentences: [journey(expansion), why, how].filter(Boolean).join(' '),
    advice: advice(expansion) ?? null,
    stop: destination && reason ? { url: destination, reason } : null,
    onward: end.code === 'max_redirects' && longUrl ? `/?${query({ u: longUrl })}` : null,
    tracking: tracking?.parameters.length ? tracking : null,
    announcement: opens && works(expansion) ? `${heading}: ${url?.host}. ${how}` : `${heading}. ${why}`,
  };
}

/** What `host.eta` shows of a host. */
function hostInWords({ unicodeHost, mixedScripts }: UnicodeHost): HostInWords {
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
