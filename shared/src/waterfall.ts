import type { ObservedRequest, Span } from './spans.ts';

/** What the proxy's log says of a request, as far as it explains something: docs/log.md. */
export interface ProxyLine {
  requestId: string;
  method: string;
  path: string;
  status: number;
  seconds: number;
  /** Seconds since 1970. */
  end: number;
  upstream: string;
  upstreamStatus: string;
  upstreamSeconds: string;
  limit: string;
  cache: string;
}

/** What there is to explain a request with. */
export interface Found {
  lines: ProxyLine[];
  requests: ObservedRequest[];
}

/** Adds a line of the proxy's log, or the answer of a service's `/requests`, to what was found. */
export function readLine({ lines, requests }: Found, text: string): void {
  const value = JSON.parse(text);
  if (Array.isArray(value)) requests.push(...value);
  else if (value.service === 'proxy' && value.msg === 'request') lines.push(value);
}

/** Columns of the bars. */
const width = 40;

interface Bar {
  name: string;
  /** Milliseconds since 1970. */
  start: number;
  /** Milliseconds; undefined where it had not ended. */
  length: number | undefined;
  note: string;
}

/**
 * Explains one request: a waterfall of the proxy, the services and what these waited for, and a sentence that says where
 * the time went or what failed.
 */
export function explain(lines: readonly ProxyLine[], requests: readonly ObservedRequest[]): string {
  const bars = [
    ...lines.map(proxyBar),
    ...requests.toSorted((a, b) => a.start - b.start).flatMap(requestBars),
  ];
  if (bars.length === 0) return 'No log and no service knows this request.';
  const first = Math.min(...bars.map(({ start }) => start));
  const last = Math.max(...bars.map(({ start, length = 0 }) => start + length));
  const names = Math.max(...bars.map(({ name }) => name.length));
  const chart = bars.map((bar) => row(bar, first, last, names));
  return [...chart, '', sentence(lines, requests)].join('\n');
}

function proxyBar({ method, path, status, seconds, end, upstream, cache, limit }: ProxyLine): Bar {
  const length = seconds * 1_000;
  const notes = [`${method} ${path} ${status}`, cache, limit === 'REJECTED' ? 'limited' : '', upstream];
  return { name: 'proxy', start: end * 1_000 - length, length, note: notes.filter(Boolean).join(', ') };
}

function requestBars({ service, route, status, error, start, seconds, spans }: ObservedRequest): Bar[] {
  const note = [route, status, error].filter(Boolean).join(', ');
  return [{ name: service, start, length: seconds * 1_000, note }, ...spans.map(spanBar)];
}

function spanBar({ name, start, seconds, error, facts = {} }: Span): Bar {
  const notes = Object.entries(facts).map(([fact, value]) => `${fact} ${value}`);
  const length = seconds === undefined ? undefined : seconds * 1_000;
  return { name: `  ${name}`, start, length, note: [error, ...notes].filter(Boolean).join(', ') };
}

function row({ name, start, length, note }: Bar, first: number, last: number, names: number): string {
  const scale = width / Math.max(last - first, 1);
  const from = Math.min(Math.floor((start - first) * scale), width - 1);
  const to = length === undefined ? width : Math.max(Math.ceil((start - first + length) * scale), from + 1);
  const bar = `${' '.repeat(from)}${'█'.repeat(Math.min(to, width) - from)}`.padEnd(width);
  const time = length === undefined ? 'not ended' : duration(length);
  return `${name.padEnd(names)}  ${time.padStart(9)}  ${bar}  ${note}`.trimEnd();
}

function sentence(lines: readonly ProxyLine[], requests: readonly ObservedRequest[]): string {
  const line = lines.at(-1);
  const request = requests.toSorted((a, b) => a.start - b.start).at(-1);
  const status = line?.status ?? request?.status ?? 0;
  const total = (line?.seconds ?? request?.seconds ?? 0) * 1_000;
  const outcome = `The request was answered ${status} after ${duration(total)}`;
  if (line?.limit === 'REJECTED') return `${outcome}: its address sent more than the rate limit allows.`;
  if (line && !line.upstream) {
    return `${outcome} by the proxy itself${line.cache ? ', from its cache' : ''}; no service saw it.`;
  }
  if (!request) return `${outcome}; no service kept it, so there it was neither slow nor failed.`;
  const longest = longestSpan(request);
  if (!longest) return `${outcome}; ${request.service} waited for nothing that is recorded.`;
  const took = longest.seconds === undefined ? 'had not ended' : `took ${duration(longest.seconds * 1_000)}`;
  const failed = longest.error ? ` and failed (${longest.error})` : '';
  return `${outcome}: in ${request.service} the longest wait, “${longest.name}”, ${took}${failed}.`;
}

/** What has not ended is longer than anything else. */
function longestSpan({ spans }: ObservedRequest): Span | undefined {
  const length = ({ seconds = Number.POSITIVE_INFINITY }: Span) => seconds;
  return spans.toSorted((a, b) => length(b) - length(a))[0];
}

const duration = (milliseconds: number) =>
  milliseconds < 1_000 ? `${milliseconds.toFixed(1)} ms` : `${(milliseconds / 1_000).toFixed(2)} s`;
